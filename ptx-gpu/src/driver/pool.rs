//! Pools of memory. All of them give device memory.

use std::ffi::c_void;

use super::device::only;
use super::memory::give_in;
use crate::call::{calls, get, put};
use crate::gpu::{Handle, live};
use crate::handle;
use crate::status::{INVALID_VALUE, Result};

/// The device's own pool.
const DEFAULT: Handle = 0x900;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_AND_WRITE: u32 = 3;

/// The attributes that are numbers of 32 bits; others have 64.
fn is_small(which: u32) -> bool {
    (1..=3).contains(&which)
}

/// Bytes in use, or what was set.
fn attribute(pool: Handle, which: u32, value: *mut c_void) -> Result {
    let gpu = live()?;
    let set = gpu.limits.get(&key(pool, which)).copied();
    match which {
        _ if is_small(which) => put(value.cast::<i32>(), set.unwrap_or(1) as i32),
        4 => put(value.cast::<u64>(), set.unwrap_or(0) as u64),
        5..=8 => put(value.cast::<u64>(), gpu.memory.used as u64),
        _ => Err(INVALID_VALUE),
    }
}

/// What was set for a pool is kept beside the limits.
fn key(pool: Handle, which: u32) -> u32 {
    0x8000_0000 | (pool as u32) << 8 | which
}

calls! {
    #[also(cuDeviceGetMemPool)]
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, _device: i32) {
        put(pool, DEFAULT)
    }

    fn cuDeviceSetMemPool(_device: i32, _pool: Handle) {
        Ok(())
    }

    fn cuMemPoolCreate(pool: *mut Handle, _what: *const c_void) {
        live().map(drop)?;
        let handle = handle::next();
        put(pool, handle)
    }

    fn cuMemPoolDestroy(pool: Handle) {
        live().map(drop)?;
        if pool == DEFAULT { Err(INVALID_VALUE) } else { Ok(()) }
    }

    fn cuMemPoolTrimTo(_pool: Handle, _keep: usize) {
        live().map(drop)
    }

    fn cuMemPoolGetAttribute(pool: Handle, which: u32, value: *mut c_void) {
        attribute(pool, which, value)
    }

    fn cuMemPoolSetAttribute(pool: Handle, which: u32, value: *const c_void) {
        let value = if is_small(which) { get(value.cast::<i32>())? as usize } else { get(value.cast::<u64>())? as usize };
        live()?.limits.insert(key(pool, which), value);
        Ok(())
    }

    fn cuMemPoolSetAccess(_pool: Handle, _what: *const c_void, _count: usize) {
        live().map(drop)
    }

    // The device reads and writes what its pools give.
    fn cuMemPoolGetAccess(access: *mut u32, _pool: Handle, _location: *const u64) {
        put(access, READ_AND_WRITE)
    }

    #[also(cuMemGetMemPool)]
    fn cuMemGetDefaultMemPool(pool: *mut Handle, _location: *const u64, _kind: u32) {
        put(pool, DEFAULT)
    }

    fn cuMemSetMemPool(_location: *const u64, _kind: u32, _pool: Handle) {
        Ok(())
    }

    fn cuDeviceGraphMemTrim(device: i32) {
        only(device)?;
        live()?.memory.trim_graphs();
        Ok(())
    }

    fn cuDeviceGetGraphMemAttribute(device: i32, which: u32, value: *mut u64) {
        only(device)?;
        put(value, live()?.memory.of_graphs(which)?)
    }

    fn cuDeviceSetGraphMemAttribute(device: i32, which: u32, value: *const u64) {
        only(device)?;
        live()?.memory.set_of_graphs(which, get(value)?)
    }

    #[ptsz]
    fn cuMemAllocFromPoolAsync(
        address: *mut u64,
        bytes: usize,
        _pool: Handle,
        stream: Handle,
    ) {
        give_in(stream, address, bytes, "cuMemAllocFromPoolAsync")
    }
}
