//! How many blocks run at one time: the rules of NVIDIA's `cuda_occupancy.h`, and for clusters those that an H100 follows.

use crate::device::{REGISTERS, SHARED_OF_BLOCK};
use crate::gpu::{Function, Gpu};
use crate::status::{INVALID_VALUE, Result};

/// A warp gets registers in pieces of this size.
const PIECE_OF_REGISTERS: i32 = 256;
/// Shared memory is given in pieces of this size, in bytes.
const GRAIN: i32 = 128;
/// Parts of a multiprocessor, each with its own registers: a warp is in one of them.
const PARTS: i32 = 4;
const WARP: i32 = 32;
/// Blocks of a multiprocessor at one time, where they are in clusters.
const BLOCKS_IN_CLUSTERS: i32 = 8;

impl Gpu {
    /// Blocks of a multiprocessor at one time. That a kernel allows fewer threads plays no part.
    pub(crate) fn resident(&self, function: &Function, threads: u64, shared: usize) -> i32 {
        let Some(threads) = i32::try_from(threads).ok().filter(|threads| (1..=1024).contains(threads)) else {
            return 0;
        };
        let warps = (threads + WARP - 1) / WARP;
        let by_threads = self.device.threads / (warps * WARP);
        by_threads.min(self.device.blocks).min(self.by_registers(function, warps)).min(self.by_shared(function, shared))
    }

    fn by_registers(&self, function: &Function, warps: i32) -> i32 {
        let pieces = (function.registers * WARP + PIECE_OF_REGISTERS - 1) / PIECE_OF_REGISTERS;
        let of_warp = pieces.max(1) * PIECE_OF_REGISTERS;
        REGISTERS / PARTS / of_warp * PARTS / warps
    }

    fn by_shared(&self, function: &Function, shared: usize) -> i32 {
        let own = function.kernel.shared as i32;
        let most = SHARED_OF_BLOCK.max(own + function.most_dynamic);
        let Some(all) =
            i32::try_from(shared).ok().and_then(|shared| shared.checked_add(own)).filter(|all| *all <= most)
        else {
            return 0;
        };
        let pieces = (all + self.device.reserved() + GRAIN - 1) / GRAIN;
        self.device.shared / (pieces.max(1) * GRAIN)
    }

    /// Clusters of the GPU at one time: each is in one group of multiprocessors.
    pub(crate) fn resident_clusters(&self, function: &Function, of: i32, threads: u64, shared: usize) -> i32 {
        let blocks = self.resident(function, threads, shared).min(BLOCKS_IN_CLUSTERS);
        let groups = self.device.groups().into_iter().filter(|group| *group >= of);
        groups.map(|group| group * blocks / of).sum()
    }

    /// Bytes that each block may add, where so many are to run at one time. What the driver takes of each block is not subtracted,
    /// as on a GPU.
    pub(crate) fn room(&self, function: &Function, blocks: i32, threads: u64) -> Result<i32> {
        if blocks <= 0 || blocks > self.resident(function, threads, 0) {
            return Err(INVALID_VALUE);
        }
        let each = (self.device.shared / blocks / GRAIN * GRAIN).min(self.device.most_shared());
        Ok((each - function.kernel.shared as i32).clamp(0, function.most_dynamic))
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
            let blocks = self.resident(function, threads as u64, shared(threads));
            if blocks * threads > best.0 {
                best = (blocks * threads, threads, blocks);
            }
        }
        (best.2 * self.device.multiprocessors, best.1)
    }
}
