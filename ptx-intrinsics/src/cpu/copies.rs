//! The asynchronous copies that a thread of a grid has begun.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cell::RefCell;

/// A copy of `bytes` bytes, and zeros up to `size`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) dst: *mut u8,
    pub(super) src: *const u8,
    pub(super) bytes: usize,
    pub(super) size: usize,
}

impl Copy {
    /// # Safety
    /// `size` bytes of the destination are writable, and the first `bytes` of the source readable.
    pub(super) unsafe fn perform(self) {
        // SAFETY: the caller's promise.
        unsafe {
            self.dst.copy_from_nonoverlapping(self.src, self.bytes);
            self.dst.add(self.bytes).write_bytes(0, self.size - self.bytes);
        }
    }
}

/// The copies of a thread that it has not waited for: those of no group yet, and those of groups.
#[derive(Debug, Default)]
pub struct Copies(RefCell<Pending>);

#[derive(Debug, Default)]
struct Pending {
    begun: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

impl Copies {
    pub(super) fn begin(&self, copy: Copy) {
        self.0.borrow_mut().begun.push(copy);
    }

    pub(super) fn commit(&self) {
        let mut pending = self.0.borrow_mut();
        let group = core::mem::take(&mut pending.begun);
        pending.groups.push_back(group);
    }

    /// Performs all groups but the newest `left`.
    pub(super) fn wait(&self, left: usize) {
        let groups = &mut self.0.borrow_mut().groups;
        let done = groups.len().saturating_sub(left);
        groups.drain(..done).flatten().for_each(perform);
    }

    pub(super) fn wait_all(&self) {
        self.wait(0);
        self.0.borrow_mut().begun.drain(..).for_each(perform);
    }
}

fn perform(copy: Copy) {
    // SAFETY: who began the copy promised that both places stay as they are until it is waited for.
    unsafe { copy.perform() }
}
