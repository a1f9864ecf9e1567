//! The device, for the runtime.

use std::ffi::{c_char, c_void};

use super::error::{forward, runtime};
use crate::call::put;
use crate::driver::{context, device, entry};
use crate::gpu::{any, contexts, live};
use crate::status::{NO_DEVICE, NOT_FOUND, PEER_ACCESS_UNSUPPORTED};

/// The release that this runtime is like: 13.0.
const VERSION: i32 = 13000;

runtime! {
    fn cudaGetDevice(device: *mut i32) {
        put(device, any().here() as i32)
    }

    fn cudaGetDeviceCount(count: *mut i32) {
        let gpus = any().gpus.len();
        put(count, gpus as i32)?;
        if gpus == 0 { Err(NO_DEVICE) } else { Ok(()) }
    }

    fn cudaSetDevice(device: i32) {
        let mut gpu = any();
        let at = gpu.named(device)?;
        let own = &mut gpu.gpus[at];
        own.retained = own.retained.max(1);
        let primary = own.primary;
        contexts(|all| {
            all.pop();
            all.push(primary);
        });
        Ok(())
    }

    fn cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) {
        device::is_named(device)
    }

    fn cudaSetValidDevices(_devices: *const i32, _count: i32) {
        Ok(())
    }

    fn cudaChooseDevice(device: *mut i32, _wanted: *const c_void) {
        put(device, 0)
    }

    fn cudaRuntimeGetVersion(version: *mut i32) {
        put(version, VERSION)
    }

    #[also(cudaThreadExit)]
    fn cudaDeviceReset() {
        let mut gpu = live()?;
        let here = gpu.here();
        gpu.order.host_waits_for_gpu(here);
        gpu.gpus[here].peers.clear();
        Ok(())
    }

    // No GPU is its own peer.
    fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32) {
        let mut gpu = live()?;
        let both = (gpu.here(), gpu.named(peer)?);
        if both.0 == both.1 { Err(PEER_ACCESS_UNSUPPORTED) } else { context::enable(&mut gpu, both, flags) }
    }

    fn cudaDeviceDisablePeerAccess(peer: i32) {
        let mut gpu = live()?;
        let both = (gpu.here(), gpu.named(peer)?);
        context::disable(&mut gpu, both)
    }

    fn cudaSetDeviceFlags(_flags: u32) {
        Ok(())
    }

    #[ptsz]
    fn cudaGetDriverEntryPoint(name: *const c_char, place: *mut *mut c_void, flags: u64, status: *mut u32) {
        entry_point(name, place, VERSION, flags, status)
    }

    #[ptsz]
    fn cudaGetDriverEntryPointByVersion(
        name: *const c_char,
        place: *mut *mut c_void,
        release: u32,
        flags: u64,
        status: *mut u32,
    ) {
        entry_point(name, place, release as i32, flags, status)
    }
}

/// Found, or not known.
fn entry_point(
    name: *const c_char,
    place: *mut *mut c_void,
    release: i32,
    flags: u64,
    status: *mut u32,
) -> crate::status::Result {
    let found = entry::find(crate::call::text(name)?, release, flags);
    crate::call::put_if(status, if found.is_some() { 0 } else { 1 })?;
    put(place, found.unwrap_or(std::ptr::null_mut()))?;
    if found.is_none() && status.is_null() { Err(NOT_FOUND) } else { Ok(()) }
}

forward! {
    cudaDeviceGetAttribute(value: *mut i32, which: u32, of: i32) => device::cuDeviceGetAttribute, value, which, of;
    cudaDriverGetVersion(version: *mut i32) => device::cuDriverGetVersion, version;
    cudaProfilerStart() => device::cuProfilerStart,;
    cudaProfilerStop() => device::cuProfilerStop,;
    cudaGetDeviceFlags(flags: *mut u32) => context::cuCtxGetFlags, flags;
    cudaCtxResetPersistingL2Cache() => context::cuCtxResetPersistingL2Cache,;
    #[also(cudaThreadSynchronize)]
    cudaDeviceSynchronize() => context::cuCtxSynchronize,;
    cudaDeviceGetLimit(value: *mut usize, which: u32) => context::cuCtxGetLimit, value, which;
    cudaDeviceSetLimit(which: u32, value: usize) => context::cuCtxSetLimit, which, value;
    cudaDeviceGetStreamPriorityRange(least: *mut i32, greatest: *mut i32)
        => context::cuCtxGetStreamPriorityRange, least, greatest;
    cudaDeviceCanAccessPeer(can: *mut i32, of: i32, peer: i32) => device::cuDeviceCanAccessPeer, can, of, peer;
    cudaDeviceGetP2PAttribute(value: *mut i32, which: u32, of: i32, peer: i32)
        => device::cuDeviceGetP2PAttribute, value, which, of, peer;
    cudaDeviceGetPCIBusId(text: *mut c_char, room: i32, of: i32) => device::cuDeviceGetPCIBusId, text, room, of;
    cudaDeviceGetByPCIBusId(found: *mut i32, bus: *const c_char) => device::cuDeviceGetByPCIBusId, found, bus;
    cudaDeviceGetCacheConfig(config: *mut u32) => context::cuCtxGetCacheConfig, config;
    cudaDeviceSetCacheConfig(config: u32) => context::cuCtxSetCacheConfig, config;
}
