//! A pointer chase: every load waits for the one before it.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

kernel! {
    /// Follows `steps` links from `start`, past L1, and writes where that ends.
    ///
    /// # Safety
    /// `out` is valid for a write; `start` and every link after it are the address of a link in global memory, and nobody
    /// writes to them while the grid runs.
    pub unsafe fn chase(out: *mut u64, start: u64, steps: u32) {
        let (mut at, mut left) = (start, steps);
        while left > 0 {
            // SAFETY: a link is the address of a link.
            at = unsafe { ldcg(at as *const u64) };
            left -= 1;
        }
        // SAFETY: by this kernel's contract.
        unsafe { stcs(out, at) };
    }
}
