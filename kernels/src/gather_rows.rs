//! Rows gathered out of a cache whose pages have one row: `cp.async.bulk.tensor` brings four rows at a time into a ring of chunks, and
//! bulk copies take them away. No row passes through registers.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Numbers of a row.
pub const ROW: u32 = 128;

/// Threads in a block: one warp.
pub const THREADS: u32 = WARP_SIZE;

/// Fours of rows in a chunk, each brought by a lane.
pub const FOURS: u32 = 8;

/// Chunks that are on their way at a time.
pub const STAGES: u32 = 4;

/// Four rows.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub struct Four([u16; 4 * ROW as usize]);

/// Their bytes.
const BYTES: u32 = size_of::<Four>() as u32;

shared! {
    fn chunks() -> [[Four; FOURS as usize]; STAGES as usize];
    /// Each says that its chunk is here.
    fn here() -> [Mbarrier; STAGES as usize];
}

/// The place of a chunk, and its barrier.
#[inline(always)]
fn place(turn: u32) -> (SharedPtr<Four>, SharedPtr<Mbarrier>) {
    (chunks().cast::<Four>().add(turn % STAGES * FOURS), here().cast::<Mbarrier>().add(turn % STAGES))
}

/// Brings the four rows of a lane, if there are any.
///
/// # Safety
/// As for the kernel. All lanes call it, and the chunk before in its place is taken away.
#[inline(always)]
unsafe fn bring(cache: &TensorMap, turn: u32, rows: V4<i32>, count: u32) {
    let (lane, (chunk, here), [a, b, c, d]) = (thread_idx_x(), place(turn), rows.0);
    // SAFETY: the barrier expects the bytes of all lanes, and no phase ends before.
    unsafe {
        if lane == 0 && count > 0 {
            mbarrier_arrive_expect_tx(here, count * BYTES);
        }
        if lane < count {
            cp_async_bulk_tensor_shared_global_gather4(chunk.add(lane), cache, [0, a, b, c, d], here);
        }
    }
}

kernel! {
    /// Copies the rows of a cache that a table names, four rows for each entry. A row that the cache does not have is zeros.
    ///
    /// # Safety
    /// `out` is valid for writes and `table` for reads of `fours` entries, fewer than 2^29. `cache` is a map of a matrix of rows of
    /// [`ROW`] numbers of 16 bits, with boxes of one row and no swizzle. Nobody else touches `out`, and nobody writes to the others
    /// while the grid runs, but for a grid before this one, for which
    /// it waits. A block has [`THREADS`] threads.
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn gather_rows(out: *mut Four, cache: &TensorMap, table: *const V4<i32>, fours: u32) {
        let (lane, stride) = (thread_idx_x(), grid_dim_x() * FOURS);
        let count = |at: u32| fours.saturating_sub(at).min(FOURS);
        // SAFETY: the entry is one of the table's.
        let rows = |at: u32| unsafe { if lane < count(at) { ldg(table.add((at + lane) as usize)) } else { V4::new([0; 4]) } };
        let mut at = block_idx_x() * FOURS;
        // SAFETY: as the kernel says; a place is free for a chunk when the copy of the one before has read it.
        unsafe {
            if lane == 0 {
                prefetch_tensormap(cache);
                unroll!(for stage in 0..STAGES {
                    mbarrier_init(here().cast::<Mbarrier>().add(stage), 1);
                });
            }
            fence_mbarrier_init_release_cluster();
            sync_warp();
            griddepcontrol_wait();
            unroll!(for turn in 0..STAGES {
                bring(cache, turn, rows(at + turn * stride), count(at + turn * stride));
            });
            let mut turn = 0;
            while at < fours {
                let later = at + (STAGES - 1) * stride;
                let next = rows(later);
                let (chunk, here) = place(turn);
                while !mbarrier_try_wait_parity(here, turn / STAGES % 2) {
                    pause();
                }
                if lane == 0 {
                    cp_async_bulk_global_shared(out.add(at as usize), chunk, count(at) * BYTES);
                    cp_async_bulk_commit_group();
                    // The chunk before this one is read: its place is free.
                    cp_async_bulk_wait_group_read::<1>();
                }
                sync_warp();
                if turn > 0 {
                    bring(cache, turn + (STAGES - 1), next, count(later));
                }
                turn += 1;
                at += stride;
            }
        }
        // Shared memory has to be there until all of it is read.
        cp_async_bulk_wait_group_read::<0>();
    }
}
