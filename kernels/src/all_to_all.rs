//! A transposed matrix: each block of a cluster reads rows of a square of tiles and sends every other block its tile by `st.async`, so
//! that each has whole rows of the result to write.

use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_intrinsics::st_async_shared_cluster;
use ptx_kernel::*;

/// Blocks in a cluster.
pub const CLUSTER: u32 = 4;

/// Rows and columns of a tile.
const TILE: u32 = 32;

/// Rows and columns that a cluster transposes.
pub const SQUARE: u32 = CLUSTER * TILE;

/// Threads in a block, each for four rows and four columns.
pub const THREADS: u32 = 256;

/// Bytes that the other blocks send to one.
const BYTES: u32 = (CLUSTER - 1) * TILE * TILE * size_of::<f32>() as u32;

/// Numbers of a row in shared memory. Four of them are for no tile: without them eight lanes would write to the same banks.
const ROW: u32 = SQUARE + 4;

shared! {
    /// The block's rows of the result.
    fn turned() -> [f32; (TILE * ROW) as usize];
    /// Says that the other blocks' tiles are here.
    fn sent() -> Mbarrier;
}

/// Where a row of the result is: rows beside each other are those that a warp writes at once.
#[inline(always)]
fn place(row: u32) -> u32 {
    (row % 4 * (TILE / 4) + row / 4) * ROW
}

kernel! {
    /// Transposes a matrix, a square for each cluster: `width` of them are beside each other, `height` below each other.
    ///
    /// # Safety
    /// `input` is valid for reads and `out` for writes of all numbers of `width * height` squares, fewer than 2^31. Nobody else
    /// touches `out`, and nobody writes to `input` while it runs. A block has [`THREADS`] threads, a cluster [`CLUSTER`] blocks, and
    /// each square has a cluster.
    #[cluster_size(CLUSTER)]
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn all_to_all(out: *mut V4<f32>, input: *const V4<f32>, width: u32, height: u32) {
        let (warp, lane, rank) = (thread_idx_x() / WARP_SIZE, thread_idx_x() % WARP_SIZE, cluster_rank());
        let (square, turned) = (block_idx_x() / CLUSTER, turned().cast::<f32>());
        let (down, across) = (square / width, square % width);
        // A warp sends half of a tile, and in that a lane four rows and four columns.
        let (to, row, column) = (warp % CLUSTER, warp / CLUSTER * 16 + lane / 8 * 4, lane % 8 * 4);
        // SAFETY: as the kernel says. No block sends before the barriers of all are ready, and none ends before it has its tiles;
        // each place of a block's rows is written once.
        unsafe {
            if thread_idx_x() == 0 {
                mbarrier_init(sent(), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(sent(), BYTES);
            }
            let from = ((down * SQUARE + rank * TILE + row) * width + across) * SQUARE + to * TILE + column;
            let from = input.add((from / 4) as usize);
            let rows: [V4<f32>; 4] = core::array::from_fn(|k| ldg(from.add(k * (width * SQUARE / 4) as usize)));
            sync_cluster();
            let here = turned.add(rank * TILE + row);
            let bar = shared_of(sent(), to);
            unroll!(for k in 0..4 {
                let here = here.add(place(column + k as u32)).cast::<V4<f32>>();
                let turned = V4::new([rows[0].0[k], rows[1].0[k], rows[2].0[k], rows[3].0[k]]);
                if to == rank {
                    here.write(turned);
                } else {
                    st_async_shared_cluster(shared_of(here, to), turned, bar);
                }
            });
            while !mbarrier_try_wait_parity_as::<Acquire<Cluster>>(sent(), 0) {
                pause();
            }
            sync_threads();
            let out = out.add((((across * SQUARE + rank * TILE) * height + down) * SQUARE / 4 + lane) as usize);
            unroll!(for k in 0..4 {
                let row = 8 * k as u32 + warp;
                stcs(out.add((row * height * (SQUARE / 4)) as usize), turned.add(place(row)).cast::<V4<f32>>().add(lane).read());
            });
        }
    }
}
