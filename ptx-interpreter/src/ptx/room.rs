//! Shared memory, as the variables of a kernel take it.

use crate::memory::spaces::Named;
use crate::ptx::operand::Place;

/// Shared memory, as its variables take it.
#[derive(Clone, Default)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    /// What dynamic shared memory is aligned to.
    pub(crate) align: usize,
    pub(crate) named: Vec<Named>,
}

impl Room {
    /// A variable without a size is dynamic shared memory. An open one has no end: Mosaic's kernels use what a launch adds by an array of no
    /// elements.
    pub(crate) fn take(&mut self, name: &str, bytes: usize, align: usize, is_open: bool) -> Place {
        let align = align.clamp(1, 1024);
        if bytes == 0 {
            self.align = self.align.max(align);
            return Place::Dynamic;
        }
        let at = self.bytes.next_multiple_of(align);
        self.bytes = at + bytes;
        if !is_open {
            self.named.push(Named { name: name.to_owned(), at: at as u64, bytes: bytes as u64 });
        }
        Place::Shared(at as u64)
    }
}
