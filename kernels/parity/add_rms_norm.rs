//! RMSNorm of a sum, in bf16: what a layer made is added to the residual, and the sum is normalised for the next layer. A block takes
//! a row, which is read once and stays in registers.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// What the layer made passes by once.
const ROW: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// The residual is written too.
const RESIDUAL: LdGlobal<NoAllocate, Prefetch256> = ld_global();

/// Every block reads the weights.
const WEIGHTS: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

/// Threads of a block, at most.
pub const THREADS: u32 = 256;

/// Vectors of a row that a thread keeps in registers.
pub const EACH: usize = 4;

shared! {
    fn add_rms_norm_warps() -> [f32; 32];
}

kernel! {
    /// Adds each row of `vectors` times eight bf16 to the row of `residual`, and writes the sum there, and to `out` the sum times the
    /// weights and one over the root of its mean square and `epsilon`.
    ///
    /// # Safety
    /// `out` and `residual` are valid for writes and `input` and `residual` for reads of a row for each block, at most four vectors for
    /// each thread, fewer than 2^31 vectors in all; `weights` is valid for reads of one row. Nobody else touches `out` and `residual`,
    /// and nobody writes to the others while the grid runs. A block is whole warps, at most 256 threads.
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn add_rms_norm(
        out: *mut V4<u32>,
        residual: *mut V4<u32>,
        input: *const V4<u32>,
        weights: *const V4<u32>,
        vectors: u32,
        epsilon: f32,
    ) {
        let (row, me, threads) = (block_idx_x() * vectors, thread_idx_x(), block_dim_x());
        let none = V4::new([0; 4]);
        let residual = residual.wrapping_add(row as usize);
        // SAFETY: a vector is touched if it is of the row; all threads come to the reduction.
        unsafe {
            let at: [u32; EACH] = core::array::from_fn(|k| me + k as u32 * threads);
            let made: [V4<u32>; EACH] =
                core::array::from_fn(|k| ROW.read_if(at[k] < vectors, input.wrapping_add((row + at[k]) as usize), none));
            let mut held: [V4<u32>; EACH] =
                core::array::from_fn(|k| RESIDUAL.read_if(at[k] < vectors, residual.wrapping_add(at[k] as usize), none));
            let mut sum = 0.0;
            unroll!(for k in 0..EACH {
                unroll!(for j in 0..4 {
                    let ([low, high], [low_made, high_made]) = (unpack_bf16x2(held[k].0[j]), unpack_bf16x2(made[k].0[j]));
                    held[k].0[j] = pack_bf16x2([low + low_made, high + high_made]);
                    // What is normalised is what the next layer reads, which is rounded.
                    let [low, high] = unpack_bf16x2(held[k].0[j]);
                    sum = mul_add(high, high, mul_add(low, low, sum));
                });
                if at[k] < vectors {
                    st_global::<NoHint>().write(residual.add(at[k] as usize), held[k]);
                }
            });
            let sum = block_sum(sum, add_rms_norm_warps());
            let scale = rsqrt_approx(sum / (8 * vectors) as f32 + epsilon);
            unroll!(for k in 0..EACH {
                if at[k] < vectors {
                    let weights = WEIGHTS.read(weights.add(at[k] as usize)).0;
                    let scaled = core::array::from_fn(|j| {
                        let ([low, high], [low_weight, high_weight]) = (unpack_bf16x2(held[k].0[j]), unpack_bf16x2(weights[j]));
                        pack_bf16x2([low * scale * low_weight, high * scale * high_weight])
                    });
                    st_global::<Cs>().write(out.add((row + at[k]) as usize), V4::new(scaled));
                }
            });
        }
    }
}
