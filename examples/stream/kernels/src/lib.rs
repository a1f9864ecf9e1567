//! A matrix is read once, and each of its columns is scaled.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Threads in a block.
pub const THREADS: u32 = 256;

/// Four elements of a row, which are moved at once.
pub type Quad = V4<f32>;

/// Each row needs the weights: they are the last that L1 gives up.
const WEIGHTS: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();

/// What is read once takes no room in L1, and its neighbours are fetched into L2.
const STREAM: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// What is written is not read again soon.
const OUT: StGlobal<Cs> = st_global();

kernel! {
    /// Multiplies each of `rows` rows by the weights, element by element. A row has `quads` quads.
    ///
    /// # Safety
    /// `x` and `out` point at `rows * quads` quads, fewer than 2^32, and `weights` at `quads`. Nobody else touches `out`,
    /// and nobody writes to the others while it runs.
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn scale(rows: u32, quads: u32, x: *const Quad, weights: *const Quad, out: *mut Quad) {
        let mut row = block_idx_x();
        while row < rows {
            let mut quad = thread_idx_x();
            while quad < quads {
                let at = (row * quads + quad) as usize;
                // SAFETY: the row and the quad are in the matrix, and the quad of `out` is this thread's own.
                unsafe {
                    let weights = WEIGHTS.read(weights.add(quad as usize));
                    let x = STREAM.read(x.add(at));
                    let product = core::array::from_fn(|i| x.0[i] * weights.0[i]);
                    OUT.write(out.add(at), Quad::new(product));
                }
                quad += THREADS;
            }
            row += grid_dim_x();
        }
    }
}

/// A block for each row, and no more than a GPU has room for at once.
#[cfg(not(target_arch = "nvptx64"))]
pub fn blocks(rows: u32) -> u32 {
    rows.clamp(1, 1024)
}

/// Runs [`scale`] on the CPU.
#[cfg(not(target_arch = "nvptx64"))]
pub fn scale_on_cpu(x: &[Quad], weights: &[Quad]) -> Vec<Quad> {
    let quads = weights.len();
    assert!(
        quads > 0 && x.len().is_multiple_of(quads),
        "a matrix of whole rows"
    );
    let [rows, width] = [x.len() / quads, quads]
        .map(|size| u32::try_from(size).expect("the kernel counts in 32 bits"));
    assert!(
        u32::try_from(x.len()).is_ok(),
        "the kernel counts in 32 bits"
    );
    let mut out = vec![Quad::new([0.0; 4]); x.len()];
    let (from, weights, to) = (x.as_ptr(), weights.as_ptr(), out.as_mut_ptr());
    // SAFETY: the sizes are those of the slices, and `out` is this function's own.
    unsafe {
        cpu::Launch::new(blocks(rows), THREADS).run(|| scale(rows, width, from, weights, to))
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quads(count: usize, value: impl Fn(usize) -> f32) -> Vec<Quad> {
        (0..count)
            .map(|quad| Quad::new(std::array::from_fn(|i| value(4 * quad + i))))
            .collect()
    }

    #[test]
    fn any_shape() {
        for (rows, width) in [(1, 1), (3, 255), (2, 257), (1500, 2)] {
            let x = quads(rows * width, |i| i as f32);
            let weights = quads(width, |i| (i % 17) as f32 - 8.0);
            for (i, product) in scale_on_cpu(&x, &weights)
                .iter()
                .flat_map(|quad| quad.0)
                .enumerate()
            {
                let weight = (i % (4 * width) % 17) as f32 - 8.0;
                assert_eq!(
                    product,
                    i as f32 * weight,
                    "element {i} of {rows} rows of {width} quads"
                );
            }
        }
    }
}
