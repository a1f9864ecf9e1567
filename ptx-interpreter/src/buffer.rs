//! Memory of a trial.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use crate::machine::resources::available_memory;
use crate::machine::stop::{Result, wrong};

/// Bytes with room around them, so that an access beyond an end meets no other buffer.
pub(crate) struct Buffer {
    place: *mut u8,
    layout: Layout,
    pub(crate) bytes: usize,
    pub(crate) written: bool,
    pub(crate) shared_with_grid_before: bool,
}

/// Room on each side of a buffer.
const ROOM: usize = 1 << 16;
const ALIGN: usize = 4096;
/// What is so small is not compared with the memory that is there.
const SMALL: usize = 1 << 20;

impl Buffer {
    pub(crate) fn new(bytes: usize, written: bool) -> Result<Buffer> {
        let too_large = || wrong(format!("there is no memory for a buffer of {bytes} bytes"));
        if bytes > SMALL && available_memory().is_some_and(|available| bytes as u64 > available) {
            return Err(too_large());
        }
        let size = bytes.checked_add(2 * ROOM).ok_or_else(too_large)?;
        let layout = Layout::from_size_align(size, ALIGN).map_err(|_| too_large())?;
        // SAFETY: the layout is not empty.
        let place = unsafe { alloc_zeroed(layout) };
        if place.is_null() {
            Err(too_large())
        } else {
            Ok(Buffer { place, layout, bytes, written, shared_with_grid_before: false })
        }
    }

    pub(crate) fn begin(&self) -> *mut u8 {
        self.place.wrapping_add(ROOM)
    }

    pub(crate) fn content(&self) -> &[u8] {
        // SAFETY: the buffer has that many bytes, and nothing runs now.
        unsafe { std::slice::from_raw_parts(self.begin(), self.bytes) }
    }

    /// Gives it a content of its length.
    pub(crate) fn fill(&self, content: &[u8]) {
        assert_eq!(content.len(), self.bytes);
        // SAFETY: the buffer has that many bytes, and nothing runs now.
        unsafe { self.begin().copy_from_nonoverlapping(content.as_ptr(), self.bytes) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.place, self.layout) }
    }
}
