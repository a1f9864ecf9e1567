//! A product of matrices, tile by tile: while the threads multiply one pair of tiles, `cp.async` brings the next.

use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

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

shared! {
    fn tiles() -> Tiles;
}

kernel! {
    /// Multiplies `rows` tiles of rows by `depth` tiles with the weights, `columns` tiles of columns wide. Each sum adds
    /// its products in their order, each rounded.
    ///
    /// The weights, which every block reads, stay in L2; the input, which passes by, goes first.
    ///
    /// # Safety
    /// `out` is valid for writes of `rows * TILE` rows of `columns * TILE` elements, `input` for reads of as many rows of
    /// `depth * DEPTH`, `weights` for reads of `depth * DEPTH` rows of `columns * TILE`. Nobody else touches `out` and
    /// nobody writes to the others while it runs. Each has fewer than 2^32 quads. A block has [`THREADS`] threads.
    pub unsafe fn matmul(
        out: *mut Quad,
        input: *const Quad,
        weights: *const Quad,
        rows: u32,
        depth: u32,
        columns: u32,
    ) {
        const ROW: u32 = (DEPTH / 4) as u32;
        const WIDE: u32 = (TILE / 4) as u32;
        let me = thread_idx_x();
        let shared = tiles().cast::<Quad>();
        let (passing, kept) = (CachePolicy::all::<L2EvictFirst>(), CachePolicy::all::<L2EvictLast>());
        // Rows of either factor, in quads; and where this thread's quad is in a tile of either.
        let (deep, wide) = (depth * ROW, columns * WIDE);
        let (input_row, input_quad) = (me / ROW, me % ROW);
        let (weights_row, quad) = (me / WIDE, me % WIDE);
        let row = weights_row * 4;

        let mut tile = block_idx_x();
        while tile < rows * columns {
            let (down, across) = (tile / columns * TILE as u32, tile % columns * WIDE);
            let input_at = whole((down + input_row) * deep + input_quad);
            let weights_at = whole(weights_row * wide + across + quad);
            // SAFETY: the quads are of this tile's rows and columns.
            let bring = |step: u32| unsafe {
                let to = shared.add(step % 2 * 2 * QUADS as u32 + me);
                TILES.copy_with(to, input.add((input_at + step * ROW) as usize), passing);
                let from = weights.add((weights_at + step * DEPTH as u32 * wide) as usize);
                TILES.copy_with(to.add(QUADS as u32), from, kept);
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
                // All but the newest group: what this step needs is here, and after the barrier that of all threads.
                cp_async_wait_group::<1>();
                // SAFETY: all threads of the block take the same steps.
                unsafe { sync_threads() };
                let here = shared.add(step % 2 * 2 * QUADS as u32);
                let (inputs, weights) = (here.add(row * ROW), here.add(QUADS as u32 + quad));
                // SAFETY: the tile is here, and nobody writes it before the barrier.
                unsafe {
                    multiply_add(&mut sums, inputs, weights);
                    multiply_add(&mut sums, inputs.add(1), weights.add(TILE as u32));
                    multiply_add(&mut sums, inputs.add(2), weights.add(2 * TILE as u32));
                    multiply_add(&mut sums, inputs.add(3), weights.add(3 * TILE as u32));
                }
                // The tile is read: its place is for the one after the next.
                // SAFETY: as above.
                unsafe { sync_threads() };
            }
            for r in 0..4 {
                let at = (down + row + r) * wide + across + quad;
                // SAFETY: this thread's own quads.
                unsafe { st_global::<Cs>().write(out.add(at as usize), Quad::new(sums[r as usize])) };
            }
            tile += grid_dim_x();
        }
    }
}

/// Adds the products of four columns of the input's tile, in four rows of it, and of as many rows of the weights'.
///
/// # Safety
/// Both tiles are here, and nobody writes them meanwhile.
#[inline(always)]
unsafe fn multiply_add(sums: &mut [[f32; 4]; 4], inputs: SharedPtr<Quad>, weights: SharedPtr<Quad>) {
    // SAFETY: as this function says.
    unsafe {
        let weight: [Quad; 4] = core::array::from_fn(|row| weights.add((row * TILE / 4) as u32).read());
        let input: [Quad; 4] = core::array::from_fn(|row| inputs.add((row * DEPTH / 4) as u32).read());
        for k in 0..4 {
            for r in 0..4 {
                for c in 0..4 {
                    sums[r][c] += input[r].0[k] * weight[k].0[c];
                }
            }
        }
    }
}
