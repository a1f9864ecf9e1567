//! The local memory of a thread: the frames of the functions that it is in.

/// What is there before anything is written.
const POISON: u8 = 0x10;

pub(crate) struct Local {
    pub(crate) bytes: Vec<u8>,
    /// Which of them the thread has written.
    written: Vec<bool>,
}

impl Local {
    /// With the frame of the kernel.
    pub(crate) fn new(frame: usize) -> Local {
        Local { bytes: vec![POISON; frame], written: vec![false; frame] }
    }

    /// The frame of a function begins there.
    pub(crate) fn enter(&mut self, base: usize, frame: usize) {
        self.bytes.truncate(base);
        self.written.truncate(base);
        self.bytes.resize(base + frame, POISON);
        self.written.resize(base + frame, false);
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
