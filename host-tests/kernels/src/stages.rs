//! A ring of chunks in shared memory: bulk copies bring them, a barrier for each says that it is here, the threads change
//! it in place, and bulk copies take it away.

use ptx_intrinsics::*;

use crate::{Block, Thread};

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

/// The chunks, and the barrier of each.
#[repr(C, align(16))]
pub struct Stages {
    chunks: [[f32; CHUNK]; STAGES],
    here: [u64; STAGES],
}

kernel! {
    /// Changes `n` elements, a chunk at a time.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `n` elements, a multiple of four, and both are aligned to 16
    /// bytes. Nobody else touches `out` and nobody writes to `input` while it runs. A block has [`THREADS`] threads.
    pub unsafe fn stages(thread: Thread, block: &Block<Stages>, out: *mut f32, input: *const f32, n: usize) {
        let me = thread.thread;
        let chunks: SharedPtr<f32> = SharedPtr::new(block.shared().cast());
        let barriers: SharedPtr<Mbarrier> = chunks.add((CHUNK * STAGES) as u32).cast();
        // Which elements are this block's chunk of a number, and how many of them there are.
        let begin = |turn: usize| (turn * thread.grid_dim as usize + thread.block as usize) * CHUNK;
        let len = |turn: usize| n.saturating_sub(begin(turn)).min(CHUNK);
        let stage = |turn: usize| (turn % STAGES) as u32;
        let place = |turn: usize| chunks.add(stage(turn) * CHUNK as u32);
        // SAFETY: one thread brings a chunk, when the one before it in its place is taken away; the barrier expects its
        // bytes.
        let bring = |turn: usize| unsafe {
            let (bytes, here) = ((len(turn) * 4) as u32, barriers.add(stage(turn)));
            if bytes > 0 {
                mbarrier_arrive_expect_tx(here, bytes);
                let from = input.add(begin(turn));
                cp_async_bulk_shared_cluster_global_with(place(turn), from, bytes, here, CachePolicy::EVICT_FIRST);
            }
        };
        // SAFETY: as the kernel says; between a chunk's parts stand barriers.
        unsafe {
            if me == 0 {
                for stage in 0..STAGES as u32 {
                    mbarrier_init(barriers.add(stage), 1);
                }
                fence_proxy_async_shared_cta();
                for turn in 0..STAGES {
                    bring(turn);
                }
            }
            block.sync();
            let mut turn = 0;
            while len(turn) > 0 {
                // The first chunk in a place is of the barrier's phase 0, the next of phase 1, then 0 again.
                while !mbarrier_try_wait_parity(barriers.add(stage(turn)), (turn / STAGES % 2) as u32) {
                    block.pause();
                }
                if (me as usize) * 4 < len(turn) {
                    let mine = place(turn).cast::<V4<f32>>().add(me);
                    mine.write(V4::new(mine.read().0.map(|x| SCALE * x + OFFSET)));
                }
                fence_proxy_async_shared_cta();
                block.sync();
                if me == 0 {
                    cp_async_bulk_global_shared(out.add(begin(turn)), place(turn), (len(turn) * 4) as u32);
                    cp_async_bulk_commit_group();
                    // The chunk before this one is taken away, or nearly so: its place is free for the next.
                    if turn > 0 {
                        cp_async_bulk_wait_group_read::<1>();
                        bring(turn - 1 + STAGES);
                    }
                }
                turn += 1;
            }
            // Shared memory has to be there until all of it is read.
            cp_async_bulk_wait_group_read::<0>();
        }
    }
}
