//! A vector times a matrix of 4-bit weights, in blocks of 32 with a scale each, as `Q4_0` has them: a byte holds weights
//! `i` and `i + 16`, each with 8 added. The vector is quantised to 8 bits. A warp sums up a row.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

use crate::block;

/// Weights pass by once.
const WEIGHTS: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();
const SCALES: LdGlobalNc<NoAllocate, NoPrefetch> = ld_global_nc();

/// Every row needs the vector.
const VECTOR: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

/// Words of a block of weights, and half of those of the vector.
const WORDS: usize = 4;

/// Blocks of a lane that are on their way at once.
const UNROLL: usize = 2;

/// The lower half of each byte.
const LOW: u32 = 0x0f0f_0f0f;

kernel! {
    /// Multiplies a matrix of as many rows as there are warps with a vector, as one writes it first: a lane takes a block at a time.
    ///
    /// # Safety
    /// `out` is valid for writes of an element for each warp of the grid, `weights` for reads of `blocks` times four words for
    /// each, `scales` of `blocks` times one `f16`; `vector` is valid for reads of `blocks` times eight words and `vector_scales` of
    /// `blocks` pairs: the scale of a block of the vector, and the sum of its elements, scaled. Nobody else touches `out`, and
    /// nobody writes to the others while the grid runs. A block is whole warps.
    pub unsafe fn q4_gemv_first(
        out: *mut f32,
        weights: *const u32,
        scales: *const u16,
        vector: *const u32,
        vector_scales: *const V2<f32>,
        blocks: u32,
    ) {
        let row = global_index() / WARP_SIZE;
        let mut sum = 0.0;
        // SAFETY: the block is one of the row; all threads come to the reduction.
        unsafe {
            unrolled::<2>(lane_id()..blocks, WARP_SIZE, |block| {
                let (at, of_vector) = ((row * blocks + block) as usize, block as usize);
                let vector = vector.add(of_vector * 2 * WORDS);
                let mut dot = 0;
                for word in 0..WORDS {
                    let weights = ldg(weights.add(at * WORDS + word));
                    dot = dp4a(weights & LOW, ldg(vector.add(word)), dot);
                    dot = dp4a(weights >> 4 & LOW, ldg(vector.add(WORDS + word)), dot);
                }
                let [scale, _] = unpack_f16x2(ldg(scales.add(at)).into());
                let [vector_scale, vector_sum] = ldg(vector_scales.add(of_vector)).0;
                sum = mul_add(scale, mul_add(dot as f32, vector_scale, -8.0 * vector_sum), sum);
            });
            block::store_sum_of_warp(sum, |sum| *out.add(row as usize) = sum);
        }
    }
}

kernel! {
    /// The same: a block is one load of 128 bits, and two of them are on their way with all that they need.
    ///
    /// # Safety
    /// As for [`q4_gemv_first`]; `weights` and `vector` are aligned to 16 bytes, the matrix has fewer than 2^31 blocks, and a block
    /// at most 128 threads.
    #[launch_bounds(128, 4)]
    pub unsafe fn q4_gemv(
        out: *mut f32,
        weights: *const V4<u32>,
        scales: *const u16,
        vector: *const V4<u32>,
        vector_scales: *const V2<f32>,
        blocks: u32,
    ) {
        const STEP: u32 = WARP_SIZE * UNROLL as u32;
        const BLOCKS: usize = WARP_SIZE as usize;
        let row = global_index() / WARP_SIZE;
        let (weights, scales) = (weights.wrapping_add((row * blocks) as usize), scales.wrapping_add((row * blocks) as usize));
        let mut sum = 0.0;
        let mut at = lane_id();
        // SAFETY: the blocks are of the row; all threads come to the reduction.
        unsafe {
            while at + (STEP - WARP_SIZE) < blocks {
                let first = whole(at) as usize;
                let (weights, scales) = (weights.add(first), scales.add(first));
                let (vector, vector_scales) = (vector.add(2 * first), vector_scales.add(first));
                let weights: [V4<u32>; UNROLL] = core::array::from_fn(|k| WEIGHTS.read(weights.add(k * BLOCKS)));
                let vector: [V4<u32>; 2 * UNROLL] =
                    core::array::from_fn(|k| VECTOR.read(vector.add(k / 2 * 2 * BLOCKS + k % 2)));
                let mut scale = [0; UNROLL];
                for k in 0..UNROLL {
                    scale[k] = SCALES.read(scales.add(k * BLOCKS));
                }
                let vector_scales: [V2<f32>; UNROLL] = core::array::from_fn(|k| VECTOR.read(vector_scales.add(k * BLOCKS)));
                for k in 0..UNROLL {
                    sum = add(sum, weights[k], scale[k], [vector[2 * k], vector[2 * k + 1]], vector_scales[k]);
                }
                at += STEP;
            }
            while at < blocks {
                let first = at as usize;
                let vector = [0, 1].map(|half| VECTOR.read(vector.add(2 * first + half)));
                let (weights, scale) = (WEIGHTS.read(weights.add(first)), SCALES.read(scales.add(first)));
                sum = add(sum, weights, scale, vector, VECTOR.read(vector_scales.add(first)));
                at += WARP_SIZE;
            }
            block::store_sum_of_warp(sum, |sum| stcs(out.add(row as usize), sum));
        }
    }
}

/// The sum with the products of a block.
#[inline(always)]
fn add(sum: f32, weights: V4<u32>, scale: u16, vector: [V4<u32>; 2], of_vector: V2<f32>) -> f32 {
    let mut dot = 0;
    for k in 0..WORDS {
        dot = dp4a(weights.0[k] & LOW, vector[0].0[k], dot);
        dot = dp4a(weights.0[k] >> 4 & LOW, vector[1].0[k], dot);
    }
    let [vector_scale, vector_sum] = of_vector.0;
    let ([scale, _], dot) = (unpack_f16x2(scale.into()), dot as f32);
    mul_add(scale, mul_add(dot, vector_scale, -8.0 * vector_sum), sum)
}
