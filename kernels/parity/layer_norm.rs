//! Layer normalisation of rows: a block takes a row.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// A row is read once.
const ROW: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// Every block needs what each column is scaled by.
const COLUMNS: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

/// Threads of a block, at most.
pub const THREADS: u32 = 256;

/// Vectors of a row that a thread keeps in registers.
pub const EACH: usize = 4;

shared! {
    fn sums() -> [f32; 32];
    fn squares() -> [f32; 32];
}

kernel! {
    /// Writes for each row of `n` elements `(x - mean) / sqrt(variance + epsilon) * gamma + beta`, as one writes it first: the row is
    /// read once for each step.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of a row for each block, `gamma` and `beta` for reads of one; nobody else
    /// touches `out`, and nobody writes to the others while the grid runs. A block is whole warps.
    pub unsafe fn layer_norm_first(
        out: *mut f32,
        input: *const f32,
        gamma: *const f32,
        beta: *const f32,
        n: u32,
        epsilon: f32,
    ) {
        let row = block_idx_x() * n;
        let (me, threads) = (thread_idx_x(), block_dim_x());
        // SAFETY: the elements are of the block's row; all threads come to the reductions.
        unsafe {
            let mut sum = 0.0;
            let mut i = me;
            while i < n {
                sum += ldg(input.add((row + i) as usize));
                i += threads;
            }
            let mean = block_sum(sum, sums()) / n as f32;
            let mut sum = 0.0;
            let mut i = me;
            while i < n {
                let off = ldg(input.add((row + i) as usize)) - mean;
                sum = mul_add(off, off, sum);
                i += threads;
            }
            let variance = block_sum(sum, squares()) / n as f32;
            let scale = rsqrt_approx(variance + epsilon);
            let mut i = me;
            while i < n {
                let normal = (ldg(input.add((row + i) as usize)) - mean) * scale;
                *out.add((row + i) as usize) = mul_add(normal, ldg(gamma.add(i as usize)), ldg(beta.add(i as usize)));
                i += threads;
            }
        }
    }
}

kernel! {
    /// The same: the row is read once, by four vectors of each thread that are on their way at once, and stays in registers.
    ///
    /// # Safety
    /// As for [`layer_norm_first`], with `vectors` times four elements in a row, at most four vectors for each thread, fewer
    /// than 2^31 vectors in all. A block has at most 256 threads.
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn layer_norm(
        out: *mut V4<f32>,
        input: *const V4<f32>,
        gamma: *const V4<f32>,
        beta: *const V4<f32>,
        vectors: u32,
        epsilon: f32,
    ) {
        let (row, me, threads) = (block_idx_x() * vectors, thread_idx_x(), block_dim_x());
        let elements = (4 * vectors) as f32;
        let zero = V4::new([0.0; 4]);
        // SAFETY: a vector is touched if it is of the row; all threads come to the reductions.
        unsafe {
            let at: [u32; EACH] = core::array::from_fn(|k| me + k as u32 * threads);
            let values: [V4<f32>; EACH] =
                core::array::from_fn(|k| ROW.read_if(at[k] < vectors, input.wrapping_add((row + at[k]) as usize), zero));
            let mut sum = 0.0;
            for k in 0..EACH {
                let [a, b, c, d] = values[k].0;
                sum += (a + b) + (c + d);
            }
            let mean = block_sum(sum, sums()) / elements;
            let mut sum = 0.0;
            for k in 0..EACH {
                if at[k] < vectors {
                    let [a, b, c, d] = values[k].0.map(|value| value - mean);
                    sum = mul_add(a, a, mul_add(b, b, mul_add(c, c, mul_add(d, d, sum))));
                }
            }
            let variance = block_sum(sum, squares()) / elements;
            let scale = rsqrt_approx(variance + epsilon);
            for k in 0..EACH {
                if at[k] < vectors {
                    let (gamma, beta) = (COLUMNS.read(gamma.add(at[k] as usize)), COLUMNS.read(beta.add(at[k] as usize)));
                    let normal: [f32; 4] = core::array::from_fn(|lane| {
                        mul_add((values[k].0[lane] - mean) * scale, gamma.0[lane], beta.0[lane])
                    });
                    st_global::<Cs>().write(out.add((row + at[k]) as usize), V4::new(normal));
                }
            }
        }
    }
}
