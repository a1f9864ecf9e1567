//! A ring of chunks in shared memory: bulk copies bring them, a barrier for each says that it is here, the threads change
//! it in place, and bulk copies take it away.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Threads in a block, four elements of a chunk for each.
pub const THREADS: usize = 256;

/// Elements of a chunk.
pub const CHUNK: usize = 4 * THREADS;

/// Chunks of a block that are on their way at a time.
pub const STAGES: usize = 4;

/// What is done to an element: `SCALE * x + OFFSET`, each operation rounded.
pub const SCALE: f32 = 1.75;
/// The other part of it.
pub const OFFSET: f32 = -0.3;

shared! {
    fn chunks() -> [[f32; CHUNK]; STAGES];
    /// Each says that its chunk is here.
    fn barriers() -> [Mbarrier; STAGES];
}

kernel! {
    /// Changes `n` elements, a chunk at a time.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `n` elements, a multiple of four and fewer than 2^31, and both
    /// are aligned to 16 bytes. Nobody else touches `out` and nobody writes to `input` while it runs. A block has
    /// [`THREADS`] threads.
    pub unsafe fn stages(out: *mut f32, input: *const f32, n: usize) {
        let me = thread_idx_x();
        let (chunks, barriers) = (chunks().cast::<f32>(), barriers().cast::<Mbarrier>());
        let (n, stride) = (n as u32, grid_dim_x() * CHUNK as u32);
        let passing = CachePolicy::all::<L2EvictFirst>();
        let stage = |turn: u32| turn % STAGES as u32;
        let place = |turn: u32| chunks.add(stage(turn) * CHUNK as u32);
        let len = |at: u32| (n - at).min(CHUNK as u32);
        // SAFETY: one thread brings a chunk, when the one before it in its place is taken away; the barrier expects its
        // bytes.
        let bring = |turn: u32, at: u32| unsafe {
            if at < n {
                let (bytes, here) = (len(at) * 4, barriers.add(stage(turn)));
                mbarrier_arrive_expect_tx(here, bytes);
                cp_async_bulk_shared_cluster_global_with(place(turn), input.add(at as usize), bytes, here, passing);
            }
        };
        // SAFETY: as the kernel says; between a chunk's parts stand barriers.
        unsafe {
            let mut at = block_idx_x() * CHUNK as u32;
            if me == 0 {
                for stage in 0..STAGES as u32 {
                    mbarrier_init(barriers.add(stage), 1);
                }
                fence_proxy_async_shared_cta();
                for turn in 0..STAGES as u32 {
                    bring(turn, at + turn * stride);
                }
            }
            sync_threads();
            let mut turn = 0;
            while at < n {
                let count = len(at);
                // The first chunk in a place is of the barrier's phase 0, the next of phase 1, then 0 again.
                while !mbarrier_try_wait_parity(barriers.add(stage(turn)), turn / STAGES as u32 % 2) {
                    pause();
                }
                if me * 4 < count {
                    let mine = place(turn).cast::<V4<f32>>().add(me);
                    mine.write(V4::new(mine.read().0.map(|x| SCALE * x + OFFSET)));
                }
                fence_proxy_async_shared_cta();
                sync_threads();
                if me == 0 {
                    cp_async_bulk_global_shared(out.add(at as usize), place(turn), count * 4);
                    cp_async_bulk_commit_group();
                    // The chunk before this one is taken away, or nearly so: its place is free for the next.
                    if turn > 0 {
                        cp_async_bulk_wait_group_read::<1>();
                        bring(turn - 1 + STAGES as u32, at + (STAGES as u32 - 1) * stride);
                    }
                }
                turn += 1;
                at += stride;
            }
            // Shared memory has to be there until all of it is read.
            cp_async_bulk_wait_group_read::<0>();
        }
    }
}
