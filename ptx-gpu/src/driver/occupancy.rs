//! How many blocks run at one time.

use std::ffi::c_void;

use crate::call::{calls, put};
use crate::device::SHARED_OF_BLOCK;
use crate::gpu::{Handle, live};
use crate::status::{INVALID_VALUE, Result};

/// Says how much shared memory a block of a given number of threads takes.
type SharedOf = Option<unsafe extern "C" fn(i32) -> usize>;

fn best(
    blocks: *mut i32,
    threads: *mut i32,
    function: Handle,
    shared_of: SharedOf,
    shared: usize,
    limit: i32,
) -> Result {
    let gpu = live()?;
    // SAFETY: the program hands over a function of this type.
    let of = |threads: i32| shared_of.map_or(shared, |of| unsafe { of(threads) });
    let (grid, block) = gpu.best_block(gpu.function(function)?, limit, of);
    put(blocks, grid)?;
    put(threads, block)
}

fn resident(blocks: *mut i32, function: Handle, threads: i32, shared: usize) -> Result {
    let gpu = live()?;
    let threads = u32::try_from(threads).ok().filter(|threads| *threads > 0).ok_or(INVALID_VALUE)?;
    put(blocks, gpu.resident(gpu.function(function)?, threads, shared))
}

calls! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut i32, function: Handle, threads: i32, shared: usize) {
        resident(blocks, function, threads, shared)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut i32,
        function: Handle,
        threads: i32,
        shared: usize,
        _flags: u32,
    ) {
        resident(blocks, function, threads, shared)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        blocks: *mut i32,
        threads: *mut i32,
        function: Handle,
        shared_of: SharedOf,
        shared: usize,
        limit: i32,
    ) {
        best(blocks, threads, function, shared_of, shared, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        blocks: *mut i32,
        threads: *mut i32,
        function: Handle,
        shared_of: SharedOf,
        shared: usize,
        limit: i32,
        _flags: u32,
    ) {
        best(blocks, threads, function, shared_of, shared, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Handle, blocks: i32, _threads: i32) {
        let gpu = live()?;
        let own = gpu.function(function)?.kernel.shared as i32;
        let each = gpu.device.shared / blocks.max(1) - gpu.device.reserved() - own;
        put(bytes, each.clamp(0, gpu.device.most_shared().max(SHARED_OF_BLOCK)) as usize)
    }

    fn cuOccupancyMaxPotentialClusterSize(size: *mut i32, function: Handle, _config: *const c_void) {
        let gpu = live()?;
        gpu.function(function)?;
        put(size, gpu.device.cluster())
    }

    fn cuOccupancyMaxActiveClusters(clusters: *mut i32, function: Handle, _config: *const c_void) {
        let gpu = live()?;
        gpu.function(function)?;
        put(clusters, gpu.device.multiprocessors / gpu.device.cluster())
    }
}
