//! Launches, and what is asked about kernels, for the runtime.

use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;

use super::error::{INVALID_CONFIGURATION, forward, runtime};
use super::register::{kernel, kernel_to_launch};
use crate::call::{get, put};
use crate::driver::function::{attribute, is_cache_config, set_attribute};
use crate::driver::launch::{Attribute, attributes, plain};
use crate::driver::{launch as driver, occupancy};
use crate::gpu::{Function, Handle, live};
use crate::perform::submit;
use crate::status::{INVALID_VALUE, Result};
use crate::work::{HostFunction, Shape, Work};

/// `dim3`
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Size {
    x: u32,
    y: u32,
    z: u32,
}

impl Size {
    fn each(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// `cudaLaunchConfig_t`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Config {
    blocks: Size,
    threads: Size,
    shared: usize,
    stream: Handle,
    attributes: *const Attribute,
    count: u32,
}

/// `cudaFuncAttributes`
#[repr(C)]
pub(crate) struct Attributes<const NUMBERS: usize> {
    shared: usize,
    constant: usize,
    local: usize,
    numbers: [i32; NUMBERS],
}

fn attributes_of<const NUMBERS: usize>(function: usize) -> Result<Attributes<NUMBERS>> {
    let handle = kernel(function)?;
    let gpu = live()?;
    let of = gpu.function(handle)?;
    let mut numbers = [0; NUMBERS];
    // Threads, registers, PTX and machine code; then shared memory and the sizes of a cluster.
    for (number, which) in numbers.iter_mut().zip([0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14]) {
        *number = attribute(&gpu, of, which)?;
    }
    Ok(Attributes { shared: of.kernel.shared, constant: 0, local: of.kernel.local, numbers })
}

/// What stands between `<<<` and `>>>`.
type Configuration = (Size, Size, usize, Handle);

thread_local! {
    /// It is never freed: a thread may launch when it ends, after what it had is gone.
    static CALLS: ManuallyDrop<RefCell<Vec<Configuration>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(blocks: Size, threads: Size, shared: usize, stream: Handle) -> u32 {
    CALLS.with(|all| all.borrow_mut().push((blocks, threads, shared, stream)));
    0
}

/// A launch by what stands between `<<<` and `>>>`.
fn launch(
    symbol: usize,
    (blocks, threads, shared, stream): (Size, Size, usize, Handle),
    is_cooperative: bool,
    pointers: *const *const u8,
) -> Result {
    let done = submit_kernel(symbol, stream, simple(blocks, threads, shared, is_cooperative), pointers);
    // The runtime has a word of its own for a grid or a block that cannot be.
    let has_own_word = done == Err(INVALID_VALUE) && !sizes_fit(symbol, blocks, threads)?;
    if has_own_word { Err(INVALID_CONFIGURATION) } else { done }
}

fn sizes_fit(symbol: usize, blocks: Size, threads: Size) -> Result<bool> {
    let (handle, gpu) = (kernel(symbol)?, live()?);
    let function = gpu.function(handle)?;
    Ok(gpu.sizes_fit(function, &plain(blocks.each(), threads.each(), 0, function)))
}

fn submit_kernel(
    symbol: usize,
    stream: Handle,
    shape: impl FnOnce(&Function) -> Result<Shape>,
    pointers: *const *const u8,
) -> Result {
    let function = kernel_to_launch(symbol)?;
    let arguments = (pointers, std::ptr::null());
    let kernel = driver::kernel(&*live()?, function, symbol, shape, arguments)?;
    submit(stream, Work::Kernel(kernel))
}

fn simple(blocks: Size, threads: Size, shared: usize, is_cooperative: bool) -> impl FnOnce(&Function) -> Result<Shape> {
    move |function| {
        let shared = u32::try_from(shared).map_err(|_| INVALID_VALUE)?;
        Ok(Shape { is_cooperative, ..plain(blocks.each(), threads.each(), shared, function) })
    }
}

runtime! {
    fn __cudaPopCallConfiguration(blocks: *mut Size, threads: *mut Size, shared: *mut usize, stream: *mut Handle) {
        let top = CALLS.with(|all| all.borrow_mut().pop()).ok_or(INVALID_CONFIGURATION)?;
        put(blocks, top.0)?;
        put(threads, top.1)?;
        put(shared, top.2)?;
        put(stream, top.3)
    }

    #[also(cudaGetKernel, cudaGetFuncBySymbol)]
    fn __cudaGetKernel(handle: *mut Handle, function: usize) {
        put(handle, kernel_to_launch(function)?)
    }

    #[ptsz]
    fn cudaLaunchKernel(
        function: usize,
        blocks: Size,
        threads: Size,
        pointers: *const *const u8,
        shared: usize,
        stream: Handle,
    ) {
        launch(function, (blocks, threads, shared, stream), false, pointers)
    }

    #[ptsz]
    fn __cudaLaunchKernel(
        kernel: Handle,
        blocks: Size,
        threads: Size,
        pointers: *const *const u8,
        shared: usize,
        stream: Handle,
    ) {
        launch(kernel, (blocks, threads, shared, stream), false, pointers)
    }

    #[ptsz]
    fn cudaLaunchCooperativeKernel(
        function: usize,
        blocks: Size,
        threads: Size,
        pointers: *const *const u8,
        shared: usize,
        stream: Handle,
    ) {
        launch(function, (blocks, threads, shared, stream), true, pointers)
    }

    #[ptsz]
    fn cudaLaunchKernelExC(config: *const Config, function: usize, pointers: *const *const u8) {
        let config = get(config)?;
        let shape = simple(config.blocks, config.threads, config.shared, false);
        let shape = |function: &Function| attributes(shape(function)?, config.attributes, config.count);
        submit_kernel(function, config.stream, shape, pointers)
    }

    fn cudaFuncGetAttributes(place: *mut Attributes<30>, function: usize) {
        put(place, attributes_of(function)?)
    }

    // What a program for CUDA 11 calls: NVIDIA's has no second version.
    fn cudaFuncGetAttributes_v1(place: *mut Attributes<7>, function: usize) {
        put(place, attributes_of(function)?)
    }

    fn cudaFuncSetAttribute(function: usize, which: u32, value: i32) {
        let handle = kernel(function)?;
        set_attribute(&mut *live()?, handle, which, value)
    }

    fn cudaFuncSetCacheConfig(function: usize, config: u32) {
        is_cache_config(config)?;
        kernel(function).map(drop)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut i32, function: usize, threads: i32, shared: usize) {
        let handle = kernel(function)?;
        super::error::of(occupancy::cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, shared))
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut i32,
        function: usize,
        threads: i32,
        shared: usize,
        _flags: u32,
    ) {
        let handle = kernel(function)?;
        super::error::of(occupancy::cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, shared))
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: usize, blocks: i32, threads: i32) {
        let handle = kernel(function)?;
        super::error::of(occupancy::cuOccupancyAvailableDynamicSMemPerBlock(bytes, handle, blocks, threads))
    }

    fn cudaOccupancyMaxPotentialClusterSize(size: *mut i32, function: usize, config: *const c_void) {
        let handle = kernel(function)?;
        super::error::of(occupancy::cuOccupancyMaxPotentialClusterSize(size, handle, config))
    }

    fn cudaOccupancyMaxActiveClusters(clusters: *mut i32, function: usize, config: *const Config) {
        let (handle, config) = (kernel(function)?, get(config)?);
        let shape = simple(config.blocks, config.threads, config.shared, false);
        occupancy::clusters(clusters, handle, shape, config.attributes, config.count)
    }
}

forward! {
    #[ptsz]
    cudaLaunchHostFunc(stream: Handle, function: Option<HostFunction>, data: *mut c_void)
        => driver::cuLaunchHostFunc, stream, function, data;
    #[ptsz]
    cudaStreamAddCallback(
        stream: Handle,
        function: Option<unsafe extern "C" fn(Handle, u32, *mut c_void)>,
        data: *mut c_void,
        flags: u32,
    ) => driver::cuStreamAddCallback, stream, function, data, flags;
}
