//! RMSNorm of rows of bf16: a block takes a row, eight elements of a thread at a time, once for the sum of squares and
//! once more, out of the cache, to scale.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// A row is read twice.
const ROW: LdGlobalNc<NoHint, Prefetch128> = ld_global_nc();

/// Every block reads the weights.
const WEIGHTS: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

shared! {
    fn rms_norm_warps() -> [f32; 32];
}

kernel! {
    /// Scales each row of `vectors` times eight bf16 by the weights and by one over the root of its mean square and `epsilon`.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of a row for each block, fewer than
    /// 2^31 vectors in all, `weights` for reads of one row; nobody else
    /// touches `out`, and nobody writes to the others while the grid runs. A block is whole warps.
    pub unsafe fn rms_norm(
        out: *mut V4<u32>,
        input: *const V4<u32>,
        weights: *const V4<u32>,
        vectors: u32,
        epsilon: f32,
    ) {
        let start = block_idx_x() * vectors;
        let (me, threads) = (thread_idx_x(), block_dim_x());
        // SAFETY: an element below `vectors` lies in the row; the shared memory is this kernel's own.
        unsafe {
            let mut sum = 0.0f32;
            let mut i = me;
            while i < vectors {
                let at = whole(i);
                let pairs = ROW.read(input.add((start + at) as usize)).0;
                for k in 0..4 {
                    let [low, high] = unpack_bf16x2(pairs[k]);
                    sum = mul_add(high, high, mul_add(low, low, sum));
                }
                i += threads;
            }
            let sum = block_sum(sum, rms_norm_warps());
            let scale = rsqrt_approx(sum / (vectors * 8) as f32 + epsilon);
            let mut i = me;
            while i < vectors {
                let at = whole(i);
                let pairs = ROW.read(input.add((start + at) as usize)).0;
                let weights = WEIGHTS.read(weights.add(at as usize)).0;
                let scaled = core::array::from_fn(|k| {
                    let ([low, high], [low_weight, high_weight]) = (unpack_bf16x2(pairs[k]), unpack_bf16x2(weights[k]));
                    pack_bf16x2([low * scale * low_weight, high * scale * high_weight])
                });
                st_global::<Cs>().write(out.add((start + at) as usize), V4::new(scaled));
                i += threads;
            }
        }
    }
}
