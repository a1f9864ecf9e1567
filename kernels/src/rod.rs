//! Heat in rods, one cluster of blocks each: the cells stay in shared memory from the first step to the last, and the
//! cells at a block's ends are read out of the neighbour's.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Blocks in a cluster.
pub const CLUSTER: u32 = 4;

/// Threads in a block, a cell for each.
pub const THREADS: usize = 64;

/// Cells in a rod.
pub const ROD: usize = CLUSTER as usize * THREADS;

/// What moves to each neighbour in a step, as a part of the difference.
pub const FLOW: f32 = 0.21;

shared! {
    /// A block's cells, before a step and after it, in turns.
    fn cells() -> [[f32; THREADS]; 2];
}

kernel! {
    /// Lets `steps` steps pass: `cell += FLOW * ((left - cell) + (right - cell))`, each operation rounded. A rod's ends
    /// keep all their heat.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of [`ROD`] elements for each cluster of the grid; nobody else
    /// touches `out` and nobody writes to `input` while it runs. A block has [`THREADS`] threads, a cluster [`CLUSTER`]
    /// blocks.
    #[cluster_size(CLUSTER)]
    pub unsafe fn rod(out: *mut f32, input: *const f32, steps: u32) {
        const LAST: u32 = THREADS as u32 - 1;
        let (me, rank) = (thread_idx_x(), cluster_rank());
        let here = |step: u32, at: u32| cells().cast::<f32>().add(step % 2 * THREADS as u32 + at);
        // SAFETY: every thread has its own cell; a step reads what the last one wrote, and a barrier of the cluster
        // is between. Nobody ends before the neighbours have read.
        unsafe {
            let there = |rank: u32, step: u32, at: u32| ptx!(ld.shared::cluster.f32 [shared_of(here(step, at), rank)]);
            let mut cell = ld_global_nc::<NoAllocate, NoPrefetch>().read(input.add(global_index() as usize));
            here(0, me).write(cell);
            sync_cluster();
            for step in 0..steps {
                let left = match (me, rank) {
                    (0, 0) => cell,
                    (0, _) => there(rank - 1, step, LAST),
                    _ => here(step, me - 1).read(),
                };
                let right = match (me, rank + 1) {
                    (LAST, CLUSTER) => cell,
                    (LAST, _) => there(rank + 1, step, 0),
                    _ => here(step, me + 1).read(),
                };
                cell += FLOW * ((left - cell) + (right - cell));
                here(step + 1, me).write(cell);
                sync_cluster();
            }
            st_global::<Cs>().write(out.add(global_index() as usize), cell);
        }
    }
}
