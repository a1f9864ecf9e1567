//! A product of matrices, tile by tile: while the threads multiply one pair of tiles, `cp.async` brings the next.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Rows and columns of a tile.
pub const TILE: u32 = 32;

/// Threads in a block: each has four elements of a tile, side by side.
pub const THREADS: u32 = TILE * TILE / 4;

/// Four elements of a row, which are moved at once.
pub type Quad = V4<f32>;

/// Quads in a row of a tile.
const ROW: u32 = TILE / 4;

/// Quads from one row to the next in shared memory. A warp reads a number of each of four rows at once: with a quad between the rows, these
/// are in different banks.
const STRIDE: u32 = ROW + 1;

/// The way past L1: a block needs a tile once, and then it is in shared memory. More of its row is fetched into L2.
const BRING: CpAsyncCg<Prefetch128> = cp_async_cg();

shared! {
    /// A tile of each factor, and those that come next.
    fn tiles() -> [[Quad; (TILE * STRIDE) as usize]; 4];
}

kernel! {
    /// Multiplies `a`, `depth` tiles wide, by `b`, `depth` tiles high. The grid has a block for each tile of the product.
    ///
    /// # Safety
    /// With as many tiles of rows and columns as the grid has blocks in `y` and `x`, `a` points at `y * depth` tiles, `b` at
    /// `depth * x`, and `out` at `y * x`, row by row. Nobody else touches `out`, and nobody writes to the others while it
    /// runs. Each has fewer than 2^32 elements. A block has [`THREADS`] threads.
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn multiply(depth: u32, a: *const Quad, b: *const Quad, out: *mut Quad) {
        let me = thread_idx_x();
        // The row and the quad of a tile that this thread brings, and that it computes.
        let (row, quad) = (me / ROW, me % ROW);
        // Quads in a row of `a`, and of `b` and the product.
        let (deep, wide) = (depth * ROW, grid_dim_x() * ROW);
        let (down, across) = (block_idx_y() * TILE + row, block_idx_x() * ROW + quad);
        let here = |step: u32| tiles().cast::<Quad>().add(step % 2 * 2 * TILE * STRIDE);

        // SAFETY: the quads are of this block's rows and columns, and each thread has its own place in a tile.
        let bring = |step: u32| unsafe {
            let to = here(step).add(row * STRIDE + quad);
            BRING.copy(to, a.add((down * deep + step * ROW + quad) as usize));
            BRING.copy(to.add(TILE * STRIDE), b.add(((step * TILE + row) * wide + across) as usize));
        };
        let mut sums = [0.0; 4];
        bring(0);
        cp_async_commit_group();
        for step in 0..depth {
            if step + 1 < depth {
                bring(step + 1);
            }
            cp_async_commit_group();
            // All groups but the newest are done: what this thread brought for this step is here.
            cp_async_wait_group::<1>();
            let (a, b) = (here(step).add(row * STRIDE).cast::<f32>(), here(step).add(TILE * STRIDE + quad));
            // SAFETY: all threads of the block come here. After the first barrier the tiles are whole, and nobody writes
            // to them before the second.
            unsafe {
                sync_threads();
                for k in 0..TILE {
                    let (a, b) = (a.add(k).read(), b.add(k * STRIDE).read());
                    sums = core::array::from_fn(|i| mul_add(a, b.0[i], sums[i]));
                }
                sync_threads();
            }
        }
        // SAFETY: this thread's own quad.
        unsafe { st_global::<Cs>().write(out.add((down * wide + across) as usize), Quad::new(sums)) };
    }
}

/// Multiplies a matrix of `rows` rows by one of `columns` columns on the CPU; both are multiples of [`TILE`].
#[cfg(not(target_arch = "nvptx64"))]
pub fn multiply_on_cpu(rows: u32, columns: u32, a: &[Quad], b: &[Quad]) -> Vec<Quad> {
    let depth = depth(rows, columns, a, b);
    let mut out = vec![Quad::new([0.0; 4]); rows as usize * columns as usize / 4];
    let (a, b, to) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
    let launch = cpu::Launch::new((columns / TILE, rows / TILE), THREADS);
    // SAFETY: the sizes fit, and `out` is this function's own.
    unsafe { launch.run(|| multiply(depth, a, b, to)) };
    out
}

/// How many tiles wide the first factor is. Panics if the sizes do not fit.
#[cfg(not(target_arch = "nvptx64"))]
pub fn depth(rows: u32, columns: u32, a: &[Quad], b: &[Quad]) -> u32 {
    assert!(
        rows > 0 && columns > 0 && rows.is_multiple_of(TILE) && columns.is_multiple_of(TILE),
        "whole tiles"
    );
    let depth = 4 * a.len() / rows as usize;
    assert!(
        depth > 0 && depth.is_multiple_of(TILE as usize),
        "whole tiles"
    );
    assert_eq!(4 * a.len(), rows as usize * depth, "rows of one length");
    assert_eq!(
        4 * b.len(),
        depth * columns as usize,
        "as many rows as the first has columns"
    );
    depth as u32 / TILE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quads(count: u32, value: impl Fn(u32) -> f32) -> Vec<Quad> {
        (0..count / 4)
            .map(|quad| Quad::new(std::array::from_fn(|i| value(4 * quad + i as u32))))
            .collect()
    }

    #[test]
    fn any_shape() {
        for (rows, depth, columns) in [(32, 32, 32), (32, 96, 64), (64, 64, 160)] {
            // Small whole numbers: no sum is rounded.
            let (left, right) = (
                |i: u32| (i % 13) as f32 - 6.0,
                |i: u32| (i % 7) as f32 - 3.0,
            );
            let product = multiply_on_cpu(
                rows,
                columns,
                &quads(rows * depth, left),
                &quads(depth * columns, right),
            );
            for (i, found) in product.iter().flat_map(|quad| quad.0).enumerate() {
                let (row, column) = (i as u32 / columns, i as u32 % columns);
                let expected: f32 = (0..depth)
                    .map(|k| left(row * depth + k) * right(k * columns + column))
                    .sum();
                assert_eq!(
                    found, expected,
                    "row {row}, column {column} of {rows}×{depth}×{columns}"
                );
            }
        }
    }
}
