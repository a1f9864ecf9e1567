//! A product of matrices, tile by tile: while the threads multiply one pair of tiles, `cp.async` brings the next.

use ptx_intrinsics::*;

use crate::{Block, Thread};

/// Rows and columns of a tile of the product.
pub const TILE: usize = 64;

/// How deep a tile of a factor is.
pub const DEPTH: usize = 16;

/// Threads in a block: each has four rows and four columns of a tile.
pub const THREADS: usize = 256;

/// Four elements of a row.
pub type Quad = V4<f32>;

/// Quads of a tile of one factor: one for each thread to bring.
const QUADS: usize = TILE * DEPTH / 4;
const _: () = assert!(QUADS == THREADS);

/// A tile of each factor, and those that come next.
#[repr(C, align(16))]
pub struct Tiles([[f32; 2 * TILE * DEPTH]; 2]);

/// The way past L1: a block reads a tile once.
const TILES: CpAsyncCg = cp_async_cg();

kernel! {
    /// Multiplies `rows` tiles of rows by `depth` tiles with the weights, `columns` tiles of columns wide. Each sum adds
    /// its products in their order, each rounded.
    ///
    /// The weights, which every block reads, stay in L2; the input, which passes by, goes first.
    ///
    /// # Safety
    /// `out` is valid for writes of `rows * TILE` rows of `columns * TILE` elements, `input` for reads of as many rows of
    /// `depth * DEPTH`, `weights` for reads of `depth * DEPTH` rows of `columns * TILE`. Nobody else touches `out` and
    /// nobody writes to the others while it runs. A block has [`THREADS`] threads.
    pub unsafe fn matmul(
        thread: Thread,
        block: &Block<Tiles>,
        out: *mut Quad,
        input: *const Quad,
        weights: *const Quad,
        rows: u32,
        depth: u32,
        columns: u32,
    ) {
        let me = thread.thread;
        let shared: SharedPtr<Quad> = SharedPtr::new(block.shared().cast());
        let (deep, wide) = (depth as usize * (DEPTH / 4), columns as usize * (TILE / 4));
        // Where this thread's quad is in a tile of either factor.
        let (input_row, input_quad) = ((me / 4) as usize, (me % 4) as usize);
        let (weights_row, quad) = ((me / 16) as usize, (me % 16) as usize);
        let row = weights_row * 4;

        let mut tile = thread.block;
        while tile < rows * columns {
            let (down, across) = ((tile / columns) as usize, (tile % columns) as usize);
            // SAFETY: the quads are of this tile's rows and columns.
            let bring = |step: u32| unsafe {
                let (to, step) = (shared.add(step % 2 * 2 * QUADS as u32 + me), step as usize);
                let from = input.add((down * TILE + input_row) * deep + step * (DEPTH / 4) + input_quad);
                TILES.copy_with(to, from, CachePolicy::EVICT_FIRST);
                let from = weights.add((step * DEPTH + weights_row) * wide + across * (TILE / 4) + quad);
                TILES.copy_with(to.add(QUADS as u32), from, CachePolicy::EVICT_LAST);
            };
            let mut sums = [[0.0f32; 4]; 4];
            if depth > 0 {
                bring(0);
            }
            cp_async_commit_group();
            for step in 0..depth {
                if step + 1 < depth {
                    bring(step + 1);
                }
                cp_async_commit_group();
                // All but the newest group: what this step needs is here, and behind the barrier that of all threads.
                cp_async_wait_group::<1>();
                block.sync();
                let here = shared.add(step % 2 * 2 * QUADS as u32);
                let (inputs, weights) = (here.cast::<f32>().add((row * DEPTH) as u32), here.add((QUADS + quad) as u32));
                for k in 0..DEPTH as u32 {
                    // SAFETY: the tile is here, and nobody writes it before the barrier.
                    let weight = unsafe { weights.add(k * (TILE / 4) as u32).read() }.0;
                    for r in 0..4 {
                        // SAFETY: as above.
                        let x = unsafe { inputs.add(r * DEPTH as u32 + k).read() };
                        for c in 0..4 {
                            sums[r as usize][c] += x * weight[c];
                        }
                    }
                }
                // The tile is read: its place is for the one after the next.
                block.sync();
            }
            for r in 0..4 {
                let at = (down * TILE + row + r) * wide + across * (TILE / 4) + quad;
                // SAFETY: this thread's own quads.
                unsafe { st_global::<Cs>().write(out.add(at), Quad::new(sums[r])) };
            }
            tile += thread.grid_dim;
        }
    }
}
