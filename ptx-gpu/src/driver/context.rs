//! Contexts: which one is current in a thread, and what is set for it.

use std::ffi::c_void;

use crate::call::{calls, put, put_if};
use crate::gpu::{Gpu, HEAP_SIZE, Handle, awake, begun, contexts, current, live};
use crate::handle;
use crate::of_gpu::OfGpu;
use crate::status::{
    INVALID_CONTEXT, INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_NOT_ENABLED, Result, UNSUPPORTED_LIMIT,
};

fn create(context: *mut Handle, device: i32) -> Result {
    let mut gpu = begun()?;
    let of = gpu.named(device)?;
    let handle = handle::next();
    put(context, handle)?;
    gpu.contexts.insert(handle, of);
    contexts(|all| all.push(handle));
    Ok(())
}

/// A GPU's primary context.
fn primary(gpu: &mut Gpu, device: i32) -> Result<&mut OfGpu> {
    gpu.named(device).map(|at| &mut gpu.gpus[at])
}

/// Nothing is left of what a GPU's primary context had.
fn reset(gpu: &mut Gpu, device: i32) -> Result {
    let at = gpu.named(device)?;
    gpu.fault = None;
    gpu.order.host_waits_for_gpu(at);
    gpu.gpus[at].retained = 0;
    gpu.gpus[at].peers.clear();
    // All GPUs share the heap.
    if gpu.gpus.iter().all(|one| one.retained == 0) {
        gpu.heap = Default::default();
    }
    Ok(())
}

/// The GPU whose memory this thread's GPU is to use, or no longer. Errors: the two are the same.
fn peer(gpu: &Gpu, context: Handle) -> Result<(usize, usize)> {
    let (here, there) = (gpu.here(), gpu.of_context(context)?);
    if here == there { Err(INVALID_CONTEXT) } else { Ok((here, there)) }
}

/// Lets a GPU use another's memory.
pub(crate) fn enable(gpu: &mut Gpu, (here, there): (usize, usize), flags: u32) -> Result {
    match flags {
        0 if gpu.gpus[here].peers.insert(there) => Ok(()),
        0 => Err(PEER_ACCESS_ALREADY_ENABLED),
        _ => Err(INVALID_VALUE),
    }
}

/// The same, no longer.
pub(crate) fn disable(gpu: &mut Gpu, (here, there): (usize, usize)) -> Result {
    if gpu.gpus[here].peers.remove(&there) { Ok(()) } else { Err(PEER_ACCESS_NOT_ENABLED) }
}

/// What is preferred, shared memory or L1, is kept beside the limits.
const CACHE: u32 = 0x4000_0000;

/// `CU_LIMIT_…`: the stack of a thread, the buffer of `printf`, the heap of `malloc`, and so on.
const STACK: u32 = 0;
const PRINTF: u32 = 1;
const SYNC_DEPTH: u32 = 3;
const PENDING_LAUNCHES: u32 = 4;
const FETCH: u32 = 5;
const PERSISTING: u32 = 6;

/// The largest stack of a thread.
const MOST_STACK: usize = 512 << 10;

fn limit(gpu: &Gpu, which: u32) -> Result<usize> {
    let usual = match which {
        STACK => 1024,
        PRINTF | HEAP_SIZE => 8 << 20,
        SYNC_DEPTH => 2,
        PENDING_LAUNCHES => 2048,
        FETCH => 64,
        PERSISTING => 0,
        _ => return Err(UNSUPPORTED_LIMIT),
    };
    Ok(gpu.limits.get(&which).copied().unwrap_or(usual))
}

/// What a limit becomes that a program sets, as an H100's driver rounds it.
fn settable(gpu: &Gpu, which: u32, value: usize) -> Result<usize> {
    match which {
        STACK if value > MOST_STACK => Err(INVALID_VALUE),
        STACK => Ok(value.next_multiple_of(16)),
        PRINTF => Ok(value.max(512 << 10)),
        HEAP_SIZE if gpu.heap.lock().is_ok_and(|heap| heap.is_begun()) => Err(INVALID_VALUE),
        HEAP_SIZE => Ok(value.max(4 << 20).next_multiple_of(64 << 10)),
        SYNC_DEPTH if gpu.device.sm >= 90 => Err(UNSUPPORTED_LIMIT),
        SYNC_DEPTH | PENDING_LAUNCHES | FETCH => Ok(value),
        PERSISTING if value > gpu.device.persisting() as usize => Err(INVALID_VALUE),
        PERSISTING => Ok(value.next_multiple_of(gpu.device.l2 as usize / 16)),
        _ => Err(INVALID_VALUE),
    }
}

calls! {
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32) {
        let mut gpu = begun()?;
        let primary = primary(&mut gpu, device)?;
        primary.retained += 1;
        put(context, primary.primary)
    }

    #[also(cuDevicePrimaryCtxRelease_v2)]
    fn cuDevicePrimaryCtxRelease(device: i32) {
        let mut gpu = begun()?;
        let primary = primary(&mut gpu, device)?;
        primary.retained = primary.retained.checked_sub(1).ok_or(INVALID_CONTEXT)?;
        Ok(())
    }

    #[also(cuDevicePrimaryCtxReset_v2)]
    fn cuDevicePrimaryCtxReset(device: i32) {
        reset(&mut *begun()?, device)
    }

    #[also(cuDevicePrimaryCtxSetFlags_v2)]
    fn cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        primary(&mut *begun()?, device)?.flags = flags;
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) {
        let mut gpu = begun()?;
        let primary = primary(&mut gpu, device)?;
        put_if(flags, primary.flags)?;
        put_if(active, i32::from(primary.retained > 0))
    }

    fn cuCtxCreate_v2(context: *mut Handle, _flags: u32, device: i32) {
        create(context, device)
    }

    fn cuCtxCreate_v3(context: *mut Handle, _affinity: *mut c_void, _count: i32, _flags: u32, device: i32) {
        create(context, device)
    }

    fn cuCtxCreate_v4(context: *mut Handle, _parameters: *mut c_void, _flags: u32, device: i32) {
        create(context, device)
    }

    #[also(cuCtxDestroy)]
    fn cuCtxDestroy_v2(context: Handle) {
        let mut gpu = begun()?;
        let of = gpu.contexts.remove(&context).ok_or(INVALID_CONTEXT)?;
        gpu.fault = None;
        gpu.order.host_waits_for_gpu(of);
        contexts(|all| all.retain(|one| *one != context));
        Ok(())
    }

    fn cuCtxSetCurrent(context: Handle) {
        if context != 0 {
            begun()?.of_context(context)?;
        }
        contexts(|all| {
            all.pop();
            if context != 0 {
                all.push(context);
            }
        });
        Ok(())
    }

    fn cuCtxGetCurrent(context: *mut Handle) {
        begun().map(drop)?;
        put(context, current())
    }

    #[also(cuCtxPushCurrent)]
    fn cuCtxPushCurrent_v2(context: Handle) {
        begun()?.of_context(context)?;
        contexts(|all| all.push(context));
        Ok(())
    }

    #[also(cuCtxPopCurrent)]
    fn cuCtxPopCurrent_v2(context: *mut Handle) {
        let top = contexts(Vec::pop).ok_or(INVALID_CONTEXT)?;
        put_if(context, top)
    }

    fn cuCtxGetDevice(device: *mut i32) {
        put(device, begun()?.of_context(current())? as i32)
    }

    fn cuCtxGetDevice_v2(device: *mut i32, context: Handle) {
        put(device, begun()?.of_context(if context == 0 { current() } else { context })? as i32)
    }

    fn cuCtxGetId(context: Handle, id: *mut u64) {
        let context = if context == 0 { current() } else { context };
        begun()?.of_context(context)?;
        put(id, context as u64)
    }

    fn cuCtxGetFlags(flags: *mut u32) {
        let gpu = live()?;
        put(flags, gpu.gpus[gpu.here()].flags)
    }

    fn cuCtxSetFlags(flags: u32) {
        let mut gpu = live()?;
        let here = gpu.here();
        gpu.gpus[here].flags = flags;
        Ok(())
    }

    fn cuCtxGetApiVersion(context: Handle, version: *mut u32) {
        if context != 0 {
            begun()?.of_context(context)?;
        }
        put(version, 3020)
    }

    fn cuCtxSynchronize() {
        let mut gpu = live()?;
        let here = gpu.here();
        gpu.wait_for_gpu(here)
    }

    fn cuCtxSynchronize_v2(context: Handle) {
        let mut gpu = awake()?;
        let of = gpu.of_context(context)?;
        gpu.wait_for_gpu(of)
    }

    fn cuCtxGetLimit(value: *mut usize, which: u32) {
        put(value, limit(&*live()?, which)?)
    }

    fn cuCtxSetLimit(which: u32, value: usize) {
        let mut gpu = live()?;
        let value = settable(&gpu, which, value)?;
        gpu.limits.insert(which, value);
        Ok(())
    }

    fn cuCtxGetCacheConfig(config: *mut u32) {
        put(config, live()?.limits.get(&CACHE).map_or(0, |config| *config as u32))
    }

    fn cuCtxSetCacheConfig(config: u32) {
        live()?.limits.insert(CACHE, config as usize);
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(config: *mut u32) {
        live().map(drop)?;
        put(config, 1)
    }

    fn cuCtxSetSharedMemConfig(_config: u32) {
        live().map(drop)
    }

    fn cuCtxResetPersistingL2Cache() {
        live().map(drop)
    }

    fn cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        live().map(drop)?;
        put_if(least, 0)?;
        put_if(greatest, -5)
    }

    fn cuCtxEnablePeerAccess(context: Handle, flags: u32) {
        let mut gpu = live()?;
        let both = peer(&gpu, context)?;
        enable(&mut gpu, both, flags)
    }

    fn cuCtxDisablePeerAccess(context: Handle) {
        let mut gpu = live()?;
        let both = peer(&gpu, context)?;
        disable(&mut gpu, both)
    }
}
