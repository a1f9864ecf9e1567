//! The device, for the runtime.

use std::ffi::{c_char, c_void};

use super::error::{forward, runtime};
use crate::call::put;
use crate::driver::{context, device, entry};
use crate::gpu::live;
use crate::status::{INVALID_DEVICE, NOT_FOUND, PEER_ACCESS_NOT_ENABLED, PEER_ACCESS_UNSUPPORTED};

/// The release that this runtime is like: 13.0.
const VERSION: i32 = 13000;

runtime! {
    fn cudaGetDevice(device: *mut i32) {
        put(device, 0)
    }

    fn cudaSetDevice(device: i32) {
        device::only(device)
    }

    fn cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) {
        device::only(device)
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
        live()?.order.host_waits_for_all();
        Ok(())
    }

    // There is one device, and none is its own peer.
    fn cudaDeviceEnablePeerAccess(peer: i32, _flags: u32) {
        Err(if peer == 0 { PEER_ACCESS_UNSUPPORTED } else { INVALID_DEVICE })
    }

    fn cudaDeviceDisablePeerAccess(peer: i32) {
        Err(if peer == 0 { PEER_ACCESS_NOT_ENABLED } else { INVALID_DEVICE })
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
    cudaGetDeviceCount(count: *mut i32) => device::cuDeviceGetCount, count;
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
    cudaDeviceGetPCIBusId(text: *mut c_char, room: i32, of: i32) => device::cuDeviceGetPCIBusId, text, room, of;
    cudaDeviceGetByPCIBusId(found: *mut i32, bus: *const c_char) => device::cuDeviceGetByPCIBusId, found, bus;
    cudaDeviceGetCacheConfig(config: *mut u32) => context::cuCtxGetCacheConfig, config;
    cudaDeviceSetCacheConfig(config: u32) => context::cuCtxSetCacheConfig, config;
}
