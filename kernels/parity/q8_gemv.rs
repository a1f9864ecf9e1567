//! A vector times a matrix of 8-bit weights, in blocks of 32 with a scale each, as `Q8_0` has them; the vector is quantised
//! likewise. A warp sums up a row.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

use crate::block;

/// Weights pass by once.
const WEIGHTS: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();
const SCALES: LdGlobalNc<NoAllocate, NoPrefetch> = ld_global_nc();

/// Every row needs the vector.
const VECTOR: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

/// Words of a block.
const WORDS: usize = 8;

/// Quads of weights of a lane that are on their way at once.
const UNROLL: usize = 8;

kernel! {
    /// Multiplies a matrix of as many rows as there are warps with a vector, as one writes it first: a lane takes a block at a time.
    ///
    /// # Safety
    /// `out` is valid for writes of an element for each warp of the grid, `weights` for reads of `blocks` times eight words for
    /// each, `scales` of `blocks` times one `f16`; `vector` is valid for reads of `blocks` times eight words and `vector_scales` of
    /// `blocks` numbers. Nobody else touches `out`, and nobody writes to the others while the grid runs. A block is whole warps.
    pub unsafe fn q8_gemv_first(
        out: *mut f32,
        weights: *const u32,
        scales: *const u16,
        vector: *const u32,
        vector_scales: *const f32,
        blocks: u32,
    ) {
        let row = global_index() / WARP_SIZE;
        let mut sum = 0.0;
        // SAFETY: the block is one of the row; all threads come to the reduction.
        unsafe {
            unrolled::<2>(lane_id()..blocks, WARP_SIZE, |block| {
                let (at, of_vector) = ((row * blocks + block) as usize, block as usize);
                let mut dot = 0;
                for word in 0..WORDS {
                    dot = dp4a(ldg(weights.add(at * WORDS + word)), ldg(vector.add(of_vector * WORDS + word)), dot);
                }
                let [scale, _] = unpack_f16x2(ldg(scales.add(at)).into());
                sum = mul_add(dot as f32 * scale, ldg(vector_scales.add(of_vector)), sum);
            });
            block::store_sum_of_warp(sum, |sum| *out.add(row as usize) = sum);
        }
    }
}

kernel! {
    /// The same: neighbouring lanes take the halves of a block, 128 bits each, and eight of them at a time.
    ///
    /// # Safety
    /// As for [`q8_gemv_first`]; `weights` and `vector` are aligned to 16 bytes, the matrix has fewer than 2^31 quads, and a block
    /// at most 128 threads.
    #[launch_bounds(128, 4)]
    pub unsafe fn q8_gemv(
        out: *mut f32,
        weights: *const V4<u32>,
        scales: *const u16,
        vector: *const V4<u32>,
        vector_scales: *const f32,
        blocks: u32,
    ) {
        const STEP: u32 = WARP_SIZE * UNROLL as u32;
        let (row, quads) = (global_index() / WARP_SIZE, 2 * blocks);
        let (weights, scales) = (weights.wrapping_add((row * quads) as usize), scales.wrapping_add((row * blocks) as usize));
        let mut sum = 0.0;
        let (mut at, mut block) = (lane_id(), lane_id() / 2);
        // SAFETY: the quads and their blocks are of the row; all threads come to the reduction.
        unsafe {
            while at + (STEP - WARP_SIZE) < quads {
                let first = whole(at);
                let (weights, vector) = (weights.add(first as usize), vector.add(first as usize));
                let (scales, vector_scales) = (scales.add(whole(block) as usize), vector_scales.add(block as usize));
                const QUADS: usize = WARP_SIZE as usize;
                let weights: [V4<u32>; UNROLL] = core::array::from_fn(|k| WEIGHTS.read(weights.add(k * QUADS)));
                let vector: [V4<u32>; UNROLL] = core::array::from_fn(|k| VECTOR.read(vector.add(k * QUADS)));
                let mut both = [0.0; UNROLL];
                for k in 0..UNROLL {
                    let scale = SCALES.read(scales.add(k * QUADS / 2));
                    both[k] = unpack_f16x2(scale.into())[0] * VECTOR.read(vector_scales.add(k * QUADS / 2));
                }
                for k in 0..UNROLL {
                    sum = mul_add(dot(weights[k], vector[k]) as f32, both[k], sum);
                }
                at += STEP;
                block += STEP / 2;
            }
            while at < quads {
                let block = at as usize / 2;
                let dot = dot(WEIGHTS.read(weights.add(at as usize)), VECTOR.read(vector.add(at as usize)));
                let [scale, _] = unpack_f16x2(SCALES.read(scales.add(block)).into());
                sum = mul_add(dot as f32, scale * VECTOR.read(vector_scales.add(block)), sum);
                at += WARP_SIZE;
            }
            block::store_sum_of_warp(sum, |sum| stcs(out.add(row as usize), sum));
        }
    }
}

/// The products of 16 signed bytes, added up.
#[inline(always)]
fn dot(a: V4<u32>, b: V4<u32>) -> i32 {
    let mut sum = 0;
    for k in 0..4 {
        sum = dp4a(a.0[k], b.0[k], sum);
    }
    sum
}
