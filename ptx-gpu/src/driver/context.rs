//! Contexts: which one is current in a thread, and what is set for it.

use std::ffi::c_void;

use super::device::only;
use crate::call::{calls, put, put_if};
use crate::gpu::{Gpu, HEAP_SIZE, Handle, any, begun, contexts, current, live};
use crate::handle;
use crate::status::{INVALID_CONTEXT, INVALID_VALUE, Result, UNSUPPORTED_LIMIT};

fn create(context: *mut Handle, device: i32) -> Result {
    let mut gpu = begun()?;
    only(device)?;
    let handle = handle::next();
    put(context, handle)?;
    gpu.contexts.insert(handle);
    contexts(|all| all.push(handle));
    Ok(())
}

fn is_context(gpu: &Gpu, context: Handle) -> Result {
    let known = context == gpu.primary.0 || gpu.contexts.contains(&context);
    if known { Ok(()) } else { Err(INVALID_CONTEXT) }
}

/// Nothing is left of what the primary context had.
fn reset(gpu: &mut Gpu) -> Result {
    gpu.fault = None;
    gpu.order.host_waits_for_all();
    gpu.heap = Default::default();
    gpu.primary.1 = 0;
    Ok(())
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
        only(device)?;
        gpu.primary.1 += 1;
        put(context, gpu.primary.0)
    }

    #[also(cuDevicePrimaryCtxRelease_v2)]
    fn cuDevicePrimaryCtxRelease(device: i32) {
        let mut gpu = begun()?;
        only(device)?;
        gpu.primary.1 = gpu.primary.1.checked_sub(1).ok_or(INVALID_CONTEXT)?;
        Ok(())
    }

    #[also(cuDevicePrimaryCtxReset_v2)]
    fn cuDevicePrimaryCtxReset(device: i32) {
        only(device)?;
        reset(&mut *begun()?)
    }

    #[also(cuDevicePrimaryCtxSetFlags_v2)]
    fn cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        only(device)?;
        begun()?.primary.2 = flags;
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) {
        only(device)?;
        let (_, retained, set) = begun()?.primary;
        put_if(flags, set)?;
        put_if(active, i32::from(retained > 0))
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
        if !gpu.contexts.remove(&context) {
            return Err(INVALID_CONTEXT);
        }
        gpu.fault = None;
        gpu.order.host_waits_for_all();
        contexts(|all| all.retain(|one| *one != context));
        Ok(())
    }

    fn cuCtxSetCurrent(context: Handle) {
        if context != 0 {
            is_context(&*begun()?, context)?;
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
        is_context(&*begun()?, context)?;
        contexts(|all| all.push(context));
        Ok(())
    }

    #[also(cuCtxPopCurrent)]
    fn cuCtxPopCurrent_v2(context: *mut Handle) {
        let top = contexts(Vec::pop).ok_or(INVALID_CONTEXT)?;
        put_if(context, top)
    }

    fn cuCtxGetDevice(device: *mut i32) {
        is_context(&*begun()?, current())?;
        put(device, 0)
    }

    fn cuCtxGetDevice_v2(device: *mut i32, context: Handle) {
        is_context(&*begun()?, if context == 0 { current() } else { context })?;
        put(device, 0)
    }

    fn cuCtxGetId(context: Handle, id: *mut u64) {
        let context = if context == 0 { current() } else { context };
        is_context(&*begun()?, context)?;
        put(id, context as u64)
    }

    fn cuCtxGetFlags(flags: *mut u32) {
        put(flags, live()?.primary.2)
    }

    fn cuCtxSetFlags(flags: u32) {
        live()?.primary.2 = flags;
        Ok(())
    }

    fn cuCtxGetApiVersion(context: Handle, version: *mut u32) {
        if context != 0 {
            is_context(&*begun()?, context)?;
        }
        put(version, 3020)
    }

    fn cuCtxSynchronize() {
        live()?.wait_for_all()
    }

    fn cuCtxSynchronize_v2(context: Handle) {
        is_context(&*begun()?, context)?;
        any().fault.map_or(Ok(()), Err)?;
        any().wait_for_all()
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

    fn cuCtxEnablePeerAccess(_peer: Handle, _flags: u32) {
        Err(INVALID_VALUE)
    }

    fn cuCtxDisablePeerAccess(_peer: Handle) {
        Err(crate::status::PEER_ACCESS_NOT_ENABLED)
    }
}
