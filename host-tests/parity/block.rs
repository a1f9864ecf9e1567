//! Values reduced over the threads of a warp and of a block.

use ptx_intrinsics::SharedPtr;
use ptx_kernel::*;

/// `reduce`d over the warp, for every lane.
///
/// # Safety
/// All threads of the warp come here.
#[inline(always)]
pub(crate) unsafe fn over_warp(mut value: f32, reduce: impl Fn(f32, f32) -> f32) -> f32 {
    let mut mask = WARP_SIZE / 2;
    while mask > 0 {
        // SAFETY: by this function's contract.
        value = reduce(value, unsafe { shuffle_xor(value, mask) });
        mask /= 2;
    }
    value
}

/// Adds up over the warp, and has its first lane store the sum.
///
/// # Safety
/// All threads of the warp come here.
#[inline(always)]
pub(crate) unsafe fn store_sum_of_warp(sum: f32, store: impl FnOnce(f32)) {
    // SAFETY: by this function's contract.
    let sum = unsafe { over_warp(sum, |a, b| a + b) };
    if lane_id() == 0 {
        store(sum);
    }
}

/// `reduce`d over the block, for every thread: by warps, then over the warps' values, which are in shared memory.
///
/// # Safety
/// All threads of the block come here, at most 32 warps, and nobody else touches the 32 values at `warps`.
#[inline(always)]
pub(crate) unsafe fn over_block(value: f32, warps: SharedPtr<f32>, none: f32, reduce: impl Fn(f32, f32) -> f32) -> f32 {
    let (warp, lane) = (thread_idx_x() / WARP_SIZE, thread_idx_x() % WARP_SIZE);
    // SAFETY: all threads come here; a warp's place is its own, and a barrier is between writing and reading.
    unsafe {
        let value = over_warp(value, &reduce);
        sync_threads();
        if lane == 0 {
            warps.add(warp).write(value);
        }
        sync_threads();
        let value = if lane < block_dim_x() / WARP_SIZE { warps.add(lane).read() } else { none };
        over_warp(value, &reduce)
    }
}
