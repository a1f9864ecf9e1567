//! An address that goes from thread to thread.

/// An address that the threads of a grid share.
#[derive(Clone, Copy, Debug)]
pub struct Place(*mut u8);

impl Place {
    pub(crate) fn new<T>(memory: &mut [T]) -> Place {
        Place(memory.as_mut_ptr().cast())
    }

    /// The address, as that of a `T`.
    pub(crate) fn at<T>(self) -> *mut T {
        self.0.cast()
    }
}

// SAFETY: an address is only a number; what is done with it is the kernel's contract.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}
