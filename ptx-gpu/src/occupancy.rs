//! How many blocks run at one time. PTX does not say how many registers a thread takes, so that many that all threads of a
//! multiprocessor have room are assumed.

use crate::gpu::{Function, Gpu};

/// Registers of a thread, as far as a program asks.
pub(crate) const REGISTERS_OF_THREAD: i32 = 32;
/// Shared memory is given in pieces of this size, in bytes.
const GRAIN: usize = 128;

impl Gpu {
    /// Blocks of a multiprocessor at one time.
    pub(crate) fn resident(&self, function: &Function, threads: u32, shared: usize) -> i32 {
        if threads == 0 || threads as usize > self.most_threads(function) as usize {
            return 0;
        }
        let by_threads = self.device.threads / threads.next_multiple_of(32) as i32;
        let of_block = (function.kernel.shared + shared).next_multiple_of(GRAIN) + self.device.reserved() as usize;
        let by_shared = self.device.shared as usize / of_block.max(1);
        if of_block > self.device.shared as usize {
            return 0;
        }
        by_threads.min(self.device.blocks).min(by_shared as i32)
    }

    /// Threads of a block, at most.
    pub(crate) fn most_threads(&self, function: &Function) -> i32 {
        let kernel = &function.kernel;
        kernel.exact_threads.or(kernel.most_threads).map_or(1024, |most| most as i32).min(1024)
    }

    /// The size of a block with which most threads run at one time, and how many blocks the GPU then has.
    pub(crate) fn best_block(&self, function: &Function, limit: i32, shared: impl Fn(i32) -> usize) -> (i32, i32) {
        let most = self.most_threads(function);
        let most = if limit > 0 { most.min(limit) } else { most };
        let mut best = (0, 0, 0);
        for threads in (1..=(most + 31) / 32).rev().map(|warps| (warps * 32).min(most)) {
            let blocks = self.resident(function, threads as u32, shared(threads));
            if blocks * threads > best.0 {
                best = (blocks * threads, threads, blocks);
            }
        }
        (best.2 * self.device.multiprocessors, best.1)
    }
}
