//! How many blocks run at one time.

use std::ffi::c_void;

use super::launch::{self, Attribute, Config};
use crate::call::{calls, get, put};
use crate::gpu::{Function, Handle, live};
use crate::status::{INVALID_VALUE, Result};
use crate::work::Shape;

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
    put(blocks, gpu.resident(gpu.function(function)?, threads.into(), shared))
}

/// How many clusters a launch has at one time; of a launch without clusters, none.
pub(crate) fn clusters(
    count: *mut i32,
    function: Handle,
    shape: impl FnOnce(&Function) -> Result<Shape>,
    attributes: *const Attribute,
    number: u32,
) -> Result {
    let gpu = live()?;
    let function = gpu.function(function)?;
    let shape = launch::attributes(shape(function)?, attributes, number)?;
    let all = gpu.clusters(function, &shape)?;
    let has_clusters = function.kernel.cluster.is_some() || launch::names_cluster(attributes, number)?;
    put(count, if has_clusters { all } else { 0 })
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

    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Handle, blocks: i32, threads: i32) {
        let gpu = live()?;
        let threads = u64::try_from(threads).map_err(|_| INVALID_VALUE)?;
        put(bytes, gpu.room(gpu.function(function)?, blocks, threads)? as usize)
    }

    fn cuOccupancyMaxPotentialClusterSize(size: *mut i32, function: Handle, _config: *const c_void) {
        let gpu = live()?;
        put(size, gpu.most_of_cluster(gpu.function(function)?))
    }

    fn cuOccupancyMaxActiveClusters(count: *mut i32, function: Handle, config: *const Config) {
        let config = get(config)?;
        clusters(count, function, |function| Ok(config.plain(function)), config.attributes, config.count)
    }
}
