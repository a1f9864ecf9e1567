//! Softmax of rows that fit into shared memory: a block reads a row once, keeps it there, and writes it once.

use core::arch::asm;

use kernels::Thread;
use ptx_intrinsics::*;

use crate::block;

/// Vectors of a row, at most.
const LONGEST: usize = 1024;

/// Read once: past L1, and L2 may fetch the neighbour.
const ROW: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

shared! { softmax_row: [V4<f32>; LONGEST] }
shared! { softmax_warps: [f32; 32] }

/// Writes the softmax of each row of `vectors` times four elements, at most 1,024 times four.
///
/// # Safety
/// `out` is valid for writes and `input` for reads of a row for each block, fewer than
/// 2^31 vectors in all; nobody else touches `out`, and nobody writes
/// to `input` while the grid runs. A block is whole warps.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn softmax(out: *mut V4<f32>, input: *const V4<f32>, vectors: u32) {
    let start = Thread::current().block * vectors;
    let (me, threads) = (block::me(), block::threads());
    let row = softmax_row().cast::<V4<f32>>();
    let warps = softmax_warps().cast::<f32>();
    // SAFETY: an element below `vectors` lies in the row; a thread reads of shared memory what it has written itself.
    unsafe {
        let mut highest = f32::NEG_INFINITY;
        let mut i = me;
        while i < vectors {
            let at = block::whole(i);
            let value = ROW.read(input.add((start + at) as usize));
            row.add(at).write(value);
            let [a, b, c, d] = value.0;
            highest = highest.max(a.max(b).max(c.max(d)));
            i += threads;
        }
        let highest = block::over_block(highest, warps, f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        let mut i = me;
        while i < vectors {
            let at = block::whole(i);
            let value = row.add(at).read().0;
            let powers = core::array::from_fn(|k| exp2((value[k] - highest) * core::f32::consts::LOG2_E));
            row.add(at).write(V4::new(powers));
            let [a, b, c, d] = powers;
            sum += (a + b) + (c + d);
            i += threads;
        }
        let sum = block::over_block(sum, warps, 0.0, |a, b| a + b);
        let scale = reciprocal(sum);
        let mut i = me;
        while i < vectors {
            let at = block::whole(i);
            let value = row.add(at).read().0;
            st_global::<Cs>()
                .write(out.add((start + at) as usize), V4::new(core::array::from_fn(|k| value[k] * scale)));
            i += threads;
        }
    }
}

/// 2 to the power of `x`, approximately.
#[inline(always)]
fn exp2(x: f32) -> f32 {
    let power;
    // SAFETY: arithmetic.
    unsafe {
        asm!("ex2.approx.ftz.f32 {power}, {x};", power = out(reg32) power, x = in(reg32) x, options(pure, nomem, nostack));
    }
    power
}

/// One over `x`, approximately.
#[inline(always)]
fn reciprocal(x: f32) -> f32 {
    let one_over;
    // SAFETY: arithmetic.
    unsafe {
        asm!("rcp.approx.ftz.f32 {d}, {x};", d = out(reg32) one_over, x = in(reg32) x, options(pure, nomem, nostack));
    }
    one_over
}
