//! A matrix in tiles: tensor copies bring them, with a swizzle, and take them away.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_kernel::*;

/// Elements of a row of a tile.
pub const COLUMNS: u32 = 32;
/// Rows of a tile.
pub const ROWS: u32 = 8;

/// A tile, aligned to eight rows of 128 bytes.
#[derive(Debug)]
#[repr(C, align(1024))]
pub struct Tile([[f32; COLUMNS as usize]; ROWS as usize]);

shared! {
    fn brought() -> Tile;
    fn taken() -> Tile;
    fn here() -> Mbarrier;
}

kernel! {
    /// Multiplies a matrix, a tile of it in each block.
    ///
    /// # Safety
    /// Both maps have boxes of [`COLUMNS`] × [`ROWS`] `f32`, `from` with a swizzle of 128 bytes. The matrices have `wide` tiles beside
    /// each other, and nobody else touches that of `to`. A block has a thread for each element.
    #[launch_bounds(COLUMNS * ROWS)]
    pub unsafe fn scale(factor: f32, from: &TensorMap, wide: u32, to: &TensorMap) {
        let me = thread_idx_x();
        let (block, bytes) = (block_idx_x(), 4 * COLUMNS * ROWS);
        let place = [(block % wide * COLUMNS) as i32, (block / wide * ROWS) as i32];
        // SAFETY: one thread copies, the barrier expects the bytes of the box, and barriers are between the accesses.
        unsafe {
            if me == 0 {
                mbarrier_init(here(), 1);
                fence_proxy_async_shared_cta();
                mbarrier_arrive_expect_tx(here(), bytes);
                cp_async_bulk_tensor_shared_cluster_global(brought(), from, place, here());
            }
            sync_threads();
            while !mbarrier_try_wait_parity(here(), 0) {
                pause();
            }
            let (row, column) = (me / COLUMNS, me % COLUMNS);
            // The swizzle: four elements of column `c` of row `r` are at column `c ^ r`.
            let there = row * COLUMNS + (column ^ (4 * row));
            taken().cast::<f32>().add(me).write(factor * brought().cast::<f32>().add(there).read());
            fence_proxy_async_shared_cta();
            sync_threads();
            if me == 0 {
                cp_async_bulk_tensor_global_shared(to, place, taken());
                cp_async_bulk_commit_group();
                cp_async_bulk_wait_group_read::<0>();
            }
        }
    }
}

#[test]
fn a_matrix_is_multiplied_tile_by_tile() {
    use ptx_kernel::cpu::{Launch, Order};
    // The last tiles hang over both edges.
    let (columns, rows) = (40, 21);
    let from: Vec<f32> = (0..columns * rows).map(|at| at as f32).collect();
    let map = |at: *const f32| TensorMap::tiled(at, [columns as u64, rows as u64], [COLUMNS, ROWS]);
    for order in [Order::Ascending, Order::Descending, Order::Seeded(3)] {
        let mut to = vec![-1.0f32; columns * rows];
        let a = map(from.as_ptr()).swizzle(Swizzle::Bytes128).encode().expect("its rules hold");
        let b = map(to.as_mut_ptr()).encode().expect("its rules hold");
        // SAFETY: as the kernel says.
        unsafe { Launch::new(6, COLUMNS * ROWS).order(order).run(|| scale(0.5, &a, 2, &b)) };
        assert!(to.iter().enumerate().all(|(at, found)| *found == 0.5 * at as f32), "{to:?}");
    }
}
