//! Attention of one query to all keys, as a model decodes: keys and values of 128 `bf16` are read once, the softmax is made online
//! in f32. A warp has a key at a time, and a lane four of its numbers.

use core::array::from_fn;

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Numbers of a key.
pub const NUMBERS: u32 = 128;

/// Warps of a block.
pub const WARPS: u32 = 4;

/// Read once: past L1, and L2 may fetch the neighbour.
const ROW: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

shared! {
    fn attention_warps() -> [f32; 32];
    fn attention_values() -> [V4<f32>; (WARPS * WARP_SIZE) as usize];
}

/// Four `bf16`, as f32.
#[inline(always)]
fn four(bits: V2<u32>) -> [f32; 4] {
    let [[a, b], [c, d]] = bits.0.map(unpack_bf16x2);
    [a, b, c, d]
}

kernel! {
    /// Writes the attention of each block's query, whose scale is that of a softmax to base 2, to its `n` keys.
    ///
    /// # Safety
    /// `out` is valid for writes and `query` for reads of 128 numbers for each block, `keys` and `values` for reads of `n` times
    /// 128, fewer than 2^31 vectors in all; nobody else touches `out`, and nobody writes to the others while the grid runs. `n` is
    /// not zero.
    #[launch_bounds(WARPS * WARP_SIZE, 8)]
    pub unsafe fn attention(out: *mut f32, query: *const V4<f32>, keys: *const V2<u32>, values: *const V2<u32>, n: u32, scale: f32) {
        let (head, me) = (block_idx_x(), thread_idx_x());
        let (warp, lane) = (me / WARP_SIZE, me % WARP_SIZE);
        // SAFETY: a key is below `n`; the warps of a block have places of their own in shared memory, and barriers between.
        unsafe {
            let query = ldg(query.add((head * WARP_SIZE + lane) as usize)).0.map(|x| x * scale);
            let first = (head * n * WARP_SIZE + lane) as usize;
            let (keys, values) = (keys.add(first), values.add(first));
            let (mut highest, mut sum, mut held) = (f32::NEG_INFINITY, 0.0f32, [0.0f32; 4]);
            unrolled::<4>(warp..n, WARPS, |key| {
                let at = (key * WARP_SIZE) as usize;
                let (key_bits, value_bits) = (ROW.read(keys.add(at)), ROW.read(values.add(at)));
                let [a, b, c, d] = four(key_bits);
                let dot = mul_add(query[3], d, mul_add(query[2], c, mul_add(query[1], b, query[0] * a)));
                let score = warp_sum(dot);
                let next = highest.max(score);
                let (old, new) = (exp2_approx_ftz(highest - next), exp2_approx_ftz(score - next));
                let value = four(value_bits);
                sum = mul_add(sum, old, new);
                held = from_fn(|k| mul_add(held[k], old, new * value[k]));
                highest = next;
            });
            let old = exp2_approx_ftz(highest - block_max(highest, attention_warps()));
            let sum = block_sum(if lane == 0 { sum * old } else { 0.0 }, attention_warps());
            attention_values().cast::<V4<f32>>().add(me).write(V4::new(held.map(|x| x * old)));
            sync_threads();
            let parts = attention_values().cast::<f32>().add(me);
            let value = (parts.read() + parts.add(NUMBERS).read())
                + (parts.add(2 * NUMBERS).read() + parts.add(3 * NUMBERS).read());
            stcs(out.add((head * NUMBERS + me) as usize), value * rcp_approx_ftz(sum));
        }
    }
}
