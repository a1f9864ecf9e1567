//! A prefix sum of rows: a block walks along a row, tile after tile, by shuffles in a warp and shared memory between.

use core::arch::asm;

use kernels::Thread;
use ptx_intrinsics::*;

use crate::block::{self, WARP};

/// Read once: past L1, and L2 may fetch the neighbour.
const ROW: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

shared! { prefix_sum_warps: [u32; WARP as usize] }

/// Writes for each row of `vectors` times four elements the sums of its first ones, wrapping around.
///
/// # Safety
/// `out` is valid for writes and `input` for reads of a row for each block, fewer than
/// 2^31 vectors in all; nobody else touches `out`, and nobody writes
/// to `input` while the grid runs. A block is 32 warps, and `vectors` a multiple of its threads.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn prefix_sum(out: *mut V4<u32>, input: *const V4<u32>, vectors: u32) {
    let start = Thread::current().block * vectors;
    let (me, threads) = (block::me(), block::threads());
    let (warp, lane) = (me / WARP, me % WARP);
    let sums = prefix_sum_warps().cast::<u32>();
    let mut before = 0u32;
    // SAFETY: an element below `vectors` lies in the row; barriers part writes to shared memory from reads.
    unsafe {
        let mut i = me;
        while i < vectors {
            let at = block::whole(i);
            let [a, b, c, d] = ROW.read(input.add((start + at) as usize)).0;
            let (b, c) = (a.wrapping_add(b), c);
            let c = b.wrapping_add(c);
            let d = c.wrapping_add(d);
            let to_here = over_warp(d);
            if lane == WARP - 1 {
                sums.add(warp).write(to_here);
            }
            block::sync();
            let warps = over_warp(sums.add(lane).read());
            let of_warps = of_lane(warps, warp.wrapping_sub(1));
            let ahead = if warp == 0 { 0 } else { of_warps };
            let ahead = before.wrapping_add(ahead).wrapping_add(to_here.wrapping_sub(d));
            let sums = [a, b, c, d].map(|sum| sum.wrapping_add(ahead));
            st_global::<Cs>().write(out.add((start + at) as usize), V4::new(sums));
            before = before.wrapping_add(of_lane(warps, WARP - 1));
            block::sync();
            i += threads;
        }
    }
}

/// The sum of the values of the lanes up to this one.
#[inline(always)]
fn over_warp(mut sum: u32) -> u32 {
    let mut distance = 1;
    while distance < WARP {
        // SAFETY: all lanes of the warp come along.
        unsafe {
            asm!(
                "{{",
                ".reg .pred %inside;",
                ".reg .b32 %other;",
                "shfl.sync.up.b32 %other|%inside, {sum}, {distance}, 0, -1;",
                "@%inside add.u32 {sum}, {sum}, %other;",
                "}}",
                sum = inout(reg32) sum, distance = in(reg32) distance, options(nomem, nostack),
            );
        }
        distance *= 2;
    }
    sum
}

/// The value of that lane.
#[inline(always)]
fn of_lane(value: u32, lane: u32) -> u32 {
    let other;
    // SAFETY: all lanes of the warp come along.
    unsafe {
        asm!("shfl.sync.idx.b32 {other}, {value}, {lane}, 31, -1;",
            other = out(reg32) other, value = in(reg32) value, lane = in(reg32) lane, options(nomem, nostack));
    }
    other
}
