//! What several kernels have.

use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// A stage of a ring.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub(crate) struct Stage(pub(crate) [u32; 64]);

/// Waits for a phase of a barrier.
#[inline(always)]
pub(crate) unsafe fn wait(bar: SharedPtr<Mbarrier>, parity: u32) {
    while !unsafe { mbarrier_try_wait_parity(bar, parity) } {
        pause();
    }
}
