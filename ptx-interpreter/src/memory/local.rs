//! The local memory of a thread: the frames of the functions that it is in.

use smallvec::{SmallVec, smallvec};

/// What is there before anything is written.
const POISON: u8 = 0x10;

pub(crate) struct Local {
    pub(crate) bytes: Vec<u8>,
    /// Which of them the thread has written.
    written: Vec<bool>,
    /// Where the memory of each function ends that the thread is in, with what `alloca` gave it.
    tops: SmallVec<[usize; 1]>,
}

impl Local {
    /// With the frame of the kernel.
    pub(crate) fn new(frame: usize) -> Local {
        Local { bytes: vec![POISON; frame], written: vec![false; frame], tops: smallvec![frame] }
    }

    /// The frame of a function begins there.
    pub(crate) fn enter(&mut self, base: usize, frame: usize) {
        self.cut(base);
        self.tops.push(base);
        self.grow(base + frame);
    }

    /// The function that the thread is in ends, and so does the memory of those that it has called.
    pub(crate) fn leave(&mut self) {
        self.tops.pop();
    }

    /// Where the memory of the function ends that the thread is in.
    pub(crate) fn top(&self) -> usize {
        self.tops.last().copied().unwrap_or_default()
    }

    /// It ends further on. What is new has no value.
    pub(crate) fn grow(&mut self, top: usize) {
        self.cut(self.top());
        self.bytes.resize(top, POISON);
        self.written.resize(top, false);
        self.tops.last_mut().into_iter().for_each(|last| *last = top);
    }

    /// It ends earlier.
    pub(crate) fn shrink(&mut self, top: usize) {
        self.cut(top);
        self.tops.last_mut().into_iter().for_each(|last| *last = top);
    }

    fn cut(&mut self, end: usize) {
        self.bytes.truncate(end);
        self.written.truncate(end);
    }

    /// An argument or a result is handed over, as far as there is memory for it.
    pub(crate) fn copy(&mut self, from: usize, to: usize, bytes: usize) {
        let bytes = bytes.min(self.bytes.len().saturating_sub(from.max(to)));
        self.bytes.copy_within(from..from + bytes, to);
        self.written.copy_within(from..from + bytes, to);
    }

    /// The thread writes there.
    pub(crate) fn write(&mut self, at: usize, bytes: usize) {
        if let Some(written) = self.written.get_mut(at..at + bytes) {
            written.fill(true);
        }
    }

    pub(crate) fn is_written(&self, at: usize) -> bool {
        self.are_written(at, 1)
    }

    /// Whether all of these bytes were written, as far as there are such.
    pub(crate) fn are_written(&self, at: usize, bytes: usize) -> bool {
        self.written.get(at..at + bytes).is_none_or(|written| !written.contains(&false))
    }
}
