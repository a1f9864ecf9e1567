//! A prefix sum of rows: a block walks along a row, tile after tile, by shuffles in a warp and shared memory between.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Read once: past L1, and L2 may fetch the neighbour.
const ROW: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

shared! {
    fn prefix_sum_warps() -> [u32; WARP_SIZE as usize];
}

kernel! {
    /// Writes for each row of `vectors` times four elements the sums of its first ones, wrapping around.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of a row for each block, fewer than
    /// 2^31 vectors in all; nobody else touches `out`, and nobody writes
    /// to `input` while the grid runs. A block is 32 warps, and `vectors` a multiple of its threads.
    pub unsafe fn prefix_sum(out: *mut V4<u32>, input: *const V4<u32>, vectors: u32) {
        let start = block_idx_x() * vectors;
        let (me, threads) = (thread_idx_x(), block_dim_x());
        let (warp, lane) = (me / WARP_SIZE, me % WARP_SIZE);
        let sums = prefix_sum_warps().cast::<u32>();
        let mut before = 0u32;
        // SAFETY: an element below `vectors` lies in the row; barriers part writes to shared memory from reads.
        unsafe {
            let mut i = me;
            while i < vectors {
                let at = whole(i);
                let [a, b, c, d] = ROW.read(input.add((start + at) as usize)).0;
                let (b, c) = (a.wrapping_add(b), c);
                let c = b.wrapping_add(c);
                let d = c.wrapping_add(d);
                let to_here = over_warp(d);
                if lane == WARP_SIZE - 1 {
                    sums.add(warp).write(to_here);
                }
                sync_threads();
                let warps = over_warp(sums.add(lane).read());
                let of_warps = shuffle(warps, warp.wrapping_sub(1));
                let ahead = if warp == 0 { 0 } else { of_warps };
                let ahead = before.wrapping_add(ahead).wrapping_add(to_here.wrapping_sub(d));
                let sums = [a, b, c, d].map(|sum| sum.wrapping_add(ahead));
                st_global::<Cs>().write(out.add((start + at) as usize), V4::new(sums));
                before = before.wrapping_add(shuffle(warps, WARP_SIZE - 1));
                sync_threads();
                i += threads;
            }
        }
    }
}

/// The sum of the values of the lanes up to this one.
///
/// # Safety
/// All threads of the warp come here.
#[inline(always)]
unsafe fn over_warp(mut sum: u32) -> u32 {
    let mut distance = 1;
    while distance < WARP_SIZE {
        // SAFETY: by this function's contract.
        sum = unsafe { add_of_lane_before(sum, distance) };
        distance *= 2;
    }
    sum
}

/// The sum and that of the lane so far before, if there is one: the shuffle's own predicate says whether.
///
/// # Safety
/// All threads of the warp come here.
#[inline(always)]
unsafe fn add_of_lane_before(sum: u32, distance: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let mut sum = sum;
        // SAFETY: by this function's contract.
        unsafe {
            core::arch::asm!(
                "{{",
                ".reg .pred %inside;",
                ".reg .b32 %other;",
                "shfl.sync.up.b32 %other|%inside, {sum}, {distance}, 0, -1;",
                "@%inside add.u32 {sum}, {sum}, %other;",
                "}}",
                sum = inout(reg32) sum, distance = in(reg32) distance, options(nomem, nostack),
            );
        }
        sum
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        // SAFETY: by this function's contract.
        let other = unsafe { shuffle_up(sum, distance) };
        if lane_id() < distance { sum } else { sum.wrapping_add(other) }
    }
}
