//! Pools of memory, for the runtime.

use std::ffi::c_void;

use super::error::forward;
use crate::driver::pool as driver;
use crate::driver::virtual_memory::Access;
use crate::gpu::Handle;

forward! {
    cudaDeviceGetDefaultMemPool(pool: *mut Handle, of: i32) => driver::cuDeviceGetDefaultMemPool, pool, of;
    cudaDeviceGetMemPool(pool: *mut Handle, of: i32) => driver::cuDeviceGetMemPool, pool, of;
    cudaDeviceSetMemPool(of: i32, pool: Handle) => driver::cuDeviceSetMemPool, of, pool;
    cudaMemGetDefaultMemPool(pool: *mut Handle, location: *const u64, kind: u32)
        => driver::cuMemGetDefaultMemPool, pool, location, kind;
    cudaMemGetMemPool(pool: *mut Handle, location: *const u64, kind: u32)
        => driver::cuMemGetMemPool, pool, location, kind;
    cudaMemSetMemPool(location: *const u64, kind: u32, pool: Handle) => driver::cuMemSetMemPool, location, kind, pool;
    cudaMemPoolCreate(pool: *mut Handle, what: *const driver::Properties) => driver::cuMemPoolCreate, pool, what;
    cudaMemPoolDestroy(pool: Handle) => driver::cuMemPoolDestroy, pool;
    cudaMemPoolTrimTo(pool: Handle, keep: usize) => driver::cuMemPoolTrimTo, pool, keep;
    cudaMemPoolSetAttribute(pool: Handle, which: u32, value: *const c_void)
        => driver::cuMemPoolSetAttribute, pool, which, value;
    cudaMemPoolGetAttribute(pool: Handle, which: u32, value: *mut c_void)
        => driver::cuMemPoolGetAttribute, pool, which, value;
    cudaMemPoolSetAccess(pool: Handle, what: *const Access, count: usize)
        => driver::cuMemPoolSetAccess, pool, what, count;
    cudaDeviceGraphMemTrim(of: i32) => driver::cuDeviceGraphMemTrim, of;
    cudaDeviceGetGraphMemAttribute(of: i32, which: u32, value: *mut u64)
        => driver::cuDeviceGetGraphMemAttribute, of, which, value;
    cudaDeviceSetGraphMemAttribute(of: i32, which: u32, value: *const u64)
        => driver::cuDeviceSetGraphMemAttribute, of, which, value;
    cudaMemPoolGetAccess(access: *mut u32, pool: Handle, location: *const u64)
        => driver::cuMemPoolGetAccess, access, pool, location;
}
