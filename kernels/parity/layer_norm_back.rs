//! The way back through layer normalisation: a warp takes a row. What the columns gather over all rows is added up in shared memory
//! first, as in the second kernel of llm.c.

use ptx_intrinsics::SharedPtr;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Columns, at most.
pub const COLUMNS: usize = 1024;

shared! {
    fn of_gamma() -> [f32; COLUMNS];
    fn of_beta() -> [f32; COLUMNS];
}

kernel! {
    /// Adds to the gradients of the input and of the columns' `gamma` and `beta` what comes back from the gradient of the output.
    ///
    /// # Safety
    /// `d_input` is valid for reads and writes and `d_out` and `input` for reads of `rows` times `n` elements, fewer than 2^31; `means`
    /// and `scales`, one over the standard deviation, for reads of an element for each row; `d_gamma` and `d_beta` for reads and
    /// writes and `gamma` for reads of `n` elements, at most 1,024. Nobody else touches what is written, and nobody writes to the
    /// others while the grid runs. A block is whole warps.
    #[launch_bounds(512, 2)]
    pub unsafe fn layer_norm_back(
        d_input: *mut f32,
        d_gamma: *mut f32,
        d_beta: *mut f32,
        d_out: *const f32,
        input: *const f32,
        gamma: *const f32,
        means: *const f32,
        scales: *const f32,
        rows: u32,
        n: u32,
    ) {
        let (of_gamma, of_beta): (SharedPtr<f32>, SharedPtr<f32>) = (of_gamma().cast(), of_beta().cast());
        // SAFETY: the elements are of the row, or of the columns; all threads come to the barriers and to the reductions.
        unsafe {
            let mut i = thread_idx_x();
            while i < n {
                of_gamma.add(i).write(0.0);
                of_beta.add(i).write(0.0);
                i += block_dim_x();
            }
            sync_threads();
            let mut row = global_index() / WARP_SIZE;
            while row < rows {
                let (mean, scale) = (ldg(means.add(row as usize)), ldg(scales.add(row as usize)));
                let start = (row * n) as usize;
                let (d_input, d_out, input) = (d_input.add(start), d_out.add(start), input.add(start));
                let (mut sum, mut along) = (0.0, 0.0);
                unrolled::<4>(lane_id()..n, WARP_SIZE, |i| {
                    let normal = (ldg(input.add(i as usize)) - mean) * scale;
                    let d_normal = ldg(gamma.add(i as usize)) * ldg(d_out.add(i as usize));
                    sum += d_normal;
                    along = mul_add(d_normal, normal, along);
                });
                let sum = warp_sum(sum) / n as f32;
                let along = warp_sum(along) / n as f32;
                unrolled::<4>(lane_id()..n, WARP_SIZE, |i| {
                    let d = ldg(d_out.add(i as usize));
                    let normal = (ldg(input.add(i as usize)) - mean) * scale;
                    let d_normal = ldg(gamma.add(i as usize)) * d;
                    ptx!(red.relaxed.cta.shared.add.f32 [of_beta.add(i)], d);
                    ptx!(red.relaxed.cta.shared.add.f32 [of_gamma.add(i)], normal * d);
                    let back = (d_normal - sum - normal * along) * scale;
                    *d_input.add(i as usize) += back;
                });
                row += global_size() / WARP_SIZE;
            }
            sync_threads();
            let mut i = thread_idx_x();
            while i < n {
                ptx!(red.relaxed.gpu.global.add.f32 [d_beta.add(i as usize)], of_beta.add(i).read());
                ptx!(red.relaxed.gpu.global.add.f32 [d_gamma.add(i as usize)], of_gamma.add(i).read());
                i += block_dim_x();
            }
        }
    }
}
