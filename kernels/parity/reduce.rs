//! A sum: 128-bit loads, four of each thread in flight, then shuffles, then shared memory.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

const UNROLL: u32 = 4;

shared! {
    fn reduce_warps() -> [f32; 32];
}

kernel! {
    /// Writes the sum of the elements that a block has read to that block's place in `out`.
    ///
    /// # Safety
    /// `out` is valid for writes of an element for each block and `input` for reads of `n` vectors, fewer than 2^31; nobody else touches
    /// `out`, and nobody writes to `input` while the grid runs. A block is whole warps.
    pub unsafe fn reduce(out: *mut f32, input: *const V4<f32>, n: u32) {
        let (mut i, step) = (global_index(), global_size());
        let mut sums = [0.0f32; 4];
        while i + (UNROLL - 1) * step < n {
            // SAFETY: the last of these elements is below n.
            let values: [V4<f32>; UNROLL as usize] =
                core::array::from_fn(|k| unsafe { ldg(input.add((i + k as u32 * step) as usize)) });
            for k in 0..values.len() {
                sums = core::array::from_fn(|lane| sums[lane] + values[k].0[lane]);
            }
            i += UNROLL * step;
        }
        while i < n {
            // SAFETY: i is below n.
            let value = unsafe { ldg(input.add(i as usize)) };
            sums = core::array::from_fn(|lane| sums[lane] + value.0[lane]);
            i += step;
        }
        let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        // SAFETY: the shared memory is this kernel's own; a block writes its own place.
        unsafe {
            let sum = block_sum(sum, reduce_warps());
            if thread_idx_x() == 0 {
                stcs(out.add(block_idx_x() as usize), sum);
            }
        }
    }
}
