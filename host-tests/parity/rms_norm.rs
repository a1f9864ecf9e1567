//! RMSNorm of rows of bf16: a block takes a row, eight elements of a thread at a time, once for the sum of squares and
//! once more, out of the cache, to scale.

use core::arch::asm;
use core::f32::math::mul_add;

use kernels::Thread;
use ptx_intrinsics::*;

use crate::block;

/// A row is read twice.
const ROW: LdGlobalNc<NoHint, Prefetch128> = ld_global_nc();

/// Every block reads the weights.
const WEIGHTS: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

shared! { rms_norm_warps: [f32; 32] }

/// Scales each row of `vectors` times eight bf16 by the weights and by one over the root of its mean square and `epsilon`.
///
/// # Safety
/// `out` is valid for writes and `input` for reads of a row for each block, fewer than
/// 2^31 vectors in all, `weights` for reads of one row; nobody else
/// touches `out`, and nobody writes to the others while the grid runs. A block is whole warps.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn rms_norm(
    out: *mut V4<u32>,
    input: *const V4<u32>,
    weights: *const V4<u32>,
    vectors: u32,
    epsilon: f32,
) {
    let start = Thread::current().block * vectors;
    let (me, threads) = (block::me(), block::threads());
    // SAFETY: an element below `vectors` lies in the row; the shared memory is this kernel's own.
    unsafe {
        let mut sum = 0.0f32;
        let mut i = me;
        while i < vectors {
            let at = block::whole(i);
            let pairs = ROW.read(input.add((start + at) as usize)).0;
            for k in 0..4 {
                let [low, high] = unpack(pairs[k]);
                sum = mul_add(high, high, mul_add(low, low, sum));
            }
            i += threads;
        }
        let sum = block::over_block(sum, rms_norm_warps().cast(), 0.0, |a, b| a + b);
        let scale = rsqrt(sum / (vectors * 8) as f32 + epsilon);
        let mut i = me;
        while i < vectors {
            let at = block::whole(i);
            let pairs = ROW.read(input.add((start + at) as usize)).0;
            let weights = WEIGHTS.read(weights.add(at as usize)).0;
            let scaled = core::array::from_fn(|k| {
                let ([low, high], [low_weight, high_weight]) = (unpack(pairs[k]), unpack(weights[k]));
                pack(low * scale * low_weight, high * scale * high_weight)
            });
            st_global::<Cs>().write(out.add((start + at) as usize), V4::new(scaled));
            i += threads;
        }
    }
}

/// Two bf16 as f32, the lower one first.
#[inline(always)]
fn unpack(pair: u32) -> [f32; 2] {
    [f32::from_bits(pair << 16), f32::from_bits(pair & 0xffff_0000)]
}

/// Two f32 rounded to bf16.
#[inline(always)]
fn pack(low: f32, high: f32) -> u32 {
    let pair;
    // SAFETY: arithmetic.
    unsafe {
        asm!("cvt.rn.bf16x2.f32 {pair}, {high}, {low};",
            pair = out(reg32) pair, high = in(reg32) high, low = in(reg32) low, options(pure, nomem, nostack));
    }
    pair
}

/// One over the square root, approximately.
#[inline(always)]
fn rsqrt(x: f32) -> f32 {
    let root;
    // SAFETY: arithmetic.
    unsafe {
        asm!("rsqrt.approx.f32 {root}, {x};", root = out(reg32) root, x = in(reg32) x, options(pure, nomem, nostack));
    }
    root
}
