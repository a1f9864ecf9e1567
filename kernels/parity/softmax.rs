//! Softmax of rows that fit into shared memory: a block reads a row once, keeps it there, and writes it once.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Vectors of a row, at most.
const LONGEST: usize = 1024;

/// Read once: past L1, and L2 may fetch the neighbour.
const ROW: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

shared! {
    fn softmax_row() -> [V4<f32>; LONGEST];
    fn softmax_warps() -> [f32; 32];
}

kernel! {
    /// Writes the softmax of each row of `vectors` times four elements, at most 1,024 times four.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of a row for each block, fewer than
    /// 2^31 vectors in all; nobody else touches `out`, and nobody writes
    /// to `input` while the grid runs. A block is whole warps.
    pub unsafe fn softmax(out: *mut V4<f32>, input: *const V4<f32>, vectors: u32) {
        let start = block_idx_x() * vectors;
        let (me, threads) = (thread_idx_x(), block_dim_x());
        let row = softmax_row().cast::<V4<f32>>();
        // SAFETY: an element below `vectors` lies in the row; a thread reads of shared memory what it has written itself.
        unsafe {
            let mut highest = f32::NEG_INFINITY;
            let mut i = me;
            while i < vectors {
                let at = whole(i);
                let value = ROW.read(input.add((start + at) as usize));
                row.add(at).write(value);
                let [a, b, c, d] = value.0;
                highest = highest.max(a.max(b).max(c.max(d)));
                i += threads;
            }
            let highest = block_max(highest, softmax_warps());
            let mut sum = 0.0;
            let mut i = me;
            while i < vectors {
                let at = whole(i);
                let value = row.add(at).read().0;
                let powers = core::array::from_fn(|k| exp2_approx_ftz((value[k] - highest) * core::f32::consts::LOG2_E));
                row.add(at).write(V4::new(powers));
                let [a, b, c, d] = powers;
                sum += (a + b) + (c + d);
                i += threads;
            }
            let sum = block_sum(sum, softmax_warps());
            let scale = rcp_approx_ftz(sum);
            let mut i = me;
            while i < vectors {
                let at = whole(i);
                let value = row.add(at).read().0;
                st_global::<Cs>()
                    .write(out.add((start + at) as usize), V4::new(core::array::from_fn(|k| value[k] * scale)));
                i += threads;
            }
        }
    }
}
