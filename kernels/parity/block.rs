//! What a warp adds up.

use ptx_kernel::*;

/// Adds up over the warp, and has its first lane store the sum.
///
/// # Safety
/// All threads of the warp come here.
#[inline(always)]
pub(crate) unsafe fn store_sum_of_warp(sum: f32, store: impl FnOnce(f32)) {
    // SAFETY: by this function's contract.
    let sum = unsafe { warp_sum(sum) };
    if lane_id() == 0 {
        store(sum);
    }
}
