//! Runs a kernel on the CPU.

use crate::Thread;
use rayon::prelude::*;

/// Runs `kernel` once for every thread of the grid. Blocks run in parallel, the threads of a block
/// one after the other, so a kernel whose threads wait for each other cannot run here.
pub fn launch(grid_dim: u32, block_dim: u32, kernel: impl Fn(Thread) + Sync) {
    (0..grid_dim).into_par_iter().for_each(|block| {
        for thread in 0..block_dim {
            kernel(Thread { thread, block, block_dim, grid_dim });
        }
    });
}
