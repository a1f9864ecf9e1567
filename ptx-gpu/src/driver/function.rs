//! What a function takes, and what it is allowed.

use std::ffi::c_char;

use crate::call::{calls, put, put_if};
use crate::gpu::{Function, Gpu, Handle, begun, live};
use crate::output::wrong_call;
use crate::status::{INVALID_VALUE, Result};

/// `CU_FUNC_ATTRIBUTE_…`
const MAX_DYNAMIC_SHARED: u32 = 8;
const CARVE_OUT: u32 = 9;
const LARGE_CLUSTERS: u32 = 14;

pub(crate) fn attribute(gpu: &Gpu, function: &Function, which: u32) -> Result<i32> {
    let kernel = &function.kernel;
    let sm = gpu.device.sm as i32;
    Ok(match which {
        0 => gpu.most_threads(function),
        1 => kernel.shared as i32,
        2 | 7 => 0,
        3 => kernel.local as i32,
        4 => function.registers,
        5 | 6 => sm,
        MAX_DYNAMIC_SHARED => function.most_dynamic,
        CARVE_OUT => function.carve_out,
        10 => i32::from(kernel.cluster.is_some()),
        11..=13 => kernel.cluster.map_or(0, |sizes| sizes[which as usize - 11]) as i32,
        LARGE_CLUSTERS => i32::from(function.large_clusters),
        15 => 0,
        _ => return Err(INVALID_VALUE),
    })
}

pub(crate) fn set_attribute(gpu: &mut Gpu, handle: Handle, which: u32, value: i32) -> Result {
    let most = gpu.device.most_shared();
    let function = gpu.functions.get_mut(&handle).ok_or(crate::status::INVALID_HANDLE)?;
    match which {
        MAX_DYNAMIC_SHARED => {
            let own = function.kernel.shared as i32;
            if value < 0 || value > most - own {
                let name = function.title();
                wrong_call(
                    "cuFuncSetAttribute",
                    format!(
                        "{name} is allowed {value} bytes of dynamic shared memory, and has {own} of its own; a block has {most}"
                    ),
                    "ask for less",
                );
                return Err(INVALID_VALUE);
            }
            function.most_dynamic = value;
        }
        CARVE_OUT if (-1..=100).contains(&value) => function.carve_out = value,
        LARGE_CLUSTERS => function.large_clusters = value != 0,
        15 => {}
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

/// The kernel of a library on a GPU.
pub(crate) fn kernel_on(gpu: &mut Gpu, kernel: Handle, device: i32) -> Result<Handle> {
    let of = gpu.named(device)?;
    gpu.kernel_for(kernel, of)
}

fn parameter(function: Handle, at: usize, offset: *mut usize, bytes: *mut usize) -> Result {
    let gpu = begun()?;
    let (place, size) = *gpu.function(function)?.kernel.parameters.get(at).ok_or(INVALID_VALUE)?;
    put(offset, place)?;
    put_if(bytes, size)
}

/// `CU_FUNC_CACHE_PREFER_…`: no preference, shared memory, L1, or both alike. What is preferred changes no result.
pub(crate) fn is_cache_config(config: u32) -> Result {
    if config <= 3 { Ok(()) } else { Err(INVALID_VALUE) }
}

calls! {
    fn cuFuncGetAttribute(value: *mut i32, which: u32, function: Handle) {
        let gpu = live()?;
        put(value, attribute(&gpu, gpu.function(function)?, which)?)
    }

    fn cuFuncSetAttribute(function: Handle, which: u32, value: i32) {
        set_attribute(&mut *live()?, function, which, value)
    }

    fn cuKernelGetAttribute(value: *mut i32, which: u32, kernel: Handle, device: i32) {
        let mut gpu = begun()?;
        let kernel = kernel_on(&mut gpu, kernel, device)?;
        put(value, attribute(&gpu, gpu.function(kernel)?, which)?)
    }

    fn cuKernelSetAttribute(which: u32, value: i32, kernel: Handle, device: i32) {
        let mut gpu = begun()?;
        let kernel = kernel_on(&mut gpu, kernel, device)?;
        set_attribute(&mut gpu, kernel, which, value)
    }

    fn cuFuncSetCacheConfig(function: Handle, config: u32) {
        is_cache_config(config)?;
        live()?.function(function).map(drop)
    }

    fn cuKernelSetCacheConfig(kernel: Handle, config: u32, _device: i32) {
        is_cache_config(config)?;
        begun()?.function(kernel).map(drop)
    }

    fn cuFuncSetSharedMemConfig(function: Handle, _config: u32) {
        live()?.function(function).map(drop)
    }

    fn cuFuncGetModule(module: *mut Handle, function: Handle) {
        put(module, live()?.function(function)?.module)
    }

    #[also(cuKernelGetName)]
    fn cuFuncGetName(name: *mut *const c_char, function: Handle) {
        put(name, begun()?.function(function)?.name.as_ptr())
    }

    #[also(cuKernelGetParamInfo)]
    fn cuFuncGetParamInfo(function: Handle, at: usize, offset: *mut usize, bytes: *mut usize) {
        parameter(function, at, offset, bytes)
    }

    #[also(cuKernelGetParamCount)]
    fn cuFuncGetParamCount(function: Handle, count: *mut usize) {
        put(count, begun()?.function(function)?.kernel.parameters.len())
    }

    fn cuFuncIsLoaded(state: *mut u32, function: Handle) {
        live()?.function(function)?;
        put(state, 1)
    }

    fn cuFuncLoad(function: Handle) {
        live()?.function(function).map(drop)
    }
}
