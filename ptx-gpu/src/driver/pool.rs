//! Pools of memory. Each is of a GPU.

use std::ffi::c_void;

use super::device::is_named;
use super::memory::{DEVICE, device_of, give_in};
use super::virtual_memory::Access;
use crate::call::{all, calls, get, put};
use crate::gpu::{Gpu, Handle, awake, live};
use crate::handle;
use crate::of_gpu::{MOST_GPUS, Pool};
use crate::status::{INVALID_DEVICE, INVALID_VALUE, Result};

/// The first GPU's own pool; those of the others come behind it.
const DEFAULT: Handle = 0x900;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_AND_WRITE: u32 = 3;

/// `CUmemPoolProps`: its kinds, and where its memory is to be.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Properties {
    kinds: [u32; 2],
    place: u64,
}

impl Gpu {
    /// The pool of which a GPU allocates in its streams.
    pub(crate) fn pool(&self, gpu: usize) -> Handle {
        self.gpus[gpu].pool.unwrap_or(DEFAULT + gpu)
    }

    /// The GPU of a pool.
    pub(crate) fn gpu_of_pool(&self, pool: Handle) -> Result<usize> {
        let default = || pool.checked_sub(DEFAULT).filter(|gpu| *gpu < self.gpus.len());
        self.pools.get(&pool).map(|pool| pool.gpu).or_else(default).ok_or(INVALID_VALUE)
    }
}

/// Gives a GPU access to what a pool gives, or takes it.
fn set_access(gpu: &mut Gpu, pool: Handle, one: Access) -> Result {
    let (of, who) = (gpu.gpu_of_pool(pool)?, gpu.named(one.id)?);
    match one {
        Access { kind: DEVICE, access: 0, .. } if who == of => Err(INVALID_DEVICE),
        Access { kind: DEVICE, access, .. } => {
            gpu.pools.entry(pool).or_insert_with(|| Pool::new(of)).access.insert(who, access);
            Ok(())
        }
        _ => Err(INVALID_VALUE),
    }
}

/// The attributes that are numbers of 32 bits; others have 64.
fn is_small(which: u32) -> bool {
    (1..=3).contains(&which)
}

/// The GPU of a place; this thread's, if the place is on none.
pub(super) fn pool_place(gpu: &Gpu, place: u64) -> Result<usize> {
    if place as u32 == DEVICE { gpu.named(device_of(place)) } else { Ok(gpu.here()) }
}

/// Bytes in use, or what was set.
fn attribute(pool: Handle, which: u32, value: *mut c_void) -> Result {
    let gpu = awake()?;
    let of = gpu.gpu_of_pool(pool)?;
    let set = gpu.limits.get(&key(pool, which)).copied();
    match which {
        _ if is_small(which) => put(value.cast::<i32>(), set.unwrap_or(1) as i32),
        4 => put(value.cast::<u64>(), set.unwrap_or(0) as u64),
        5..=8 => put(value.cast::<u64>(), gpu.memory.used(of) as u64),
        _ => Err(INVALID_VALUE),
    }
}

/// What was set for a pool is kept beside the limits.
fn key(pool: Handle, which: u32) -> u32 {
    0x8000_0000 | (pool as u32) << 8 | which
}

calls! {
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, device: i32) {
        put(pool, DEFAULT + awake()?.named(device)?)
    }

    fn cuDeviceGetMemPool(pool: *mut Handle, device: i32) {
        let gpu = awake()?;
        put(pool, gpu.pool(gpu.named(device)?))
    }

    fn cuDeviceSetMemPool(device: i32, pool: Handle) {
        let mut gpu = awake()?;
        let of = gpu.named(device)?;
        if gpu.gpu_of_pool(pool)? != of {
            return Err(INVALID_VALUE);
        }
        gpu.gpus[of].pool = Some(pool);
        Ok(())
    }

    fn cuMemPoolCreate(pool: *mut Handle, what: *const Properties) {
        let mut gpu = live()?;
        let of = if what.is_null() { gpu.here() } else { pool_place(&gpu, get(what)?.place)? };
        let handle = handle::next();
        put(pool, handle)?;
        gpu.pools.insert(handle, Pool::new(of));
        Ok(())
    }

    // What was allocated of it stays.
    fn cuMemPoolDestroy(pool: Handle) {
        let mut gpu = live()?;
        let of = gpu.gpu_of_pool(pool)?;
        if pool < DEFAULT + MOST_GPUS {
            return Err(INVALID_VALUE);
        }
        gpu.gpus[of].pool.take_if(|used| *used == pool);
        Ok(())
    }

    fn cuMemPoolTrimTo(_pool: Handle, _keep: usize) {
        awake().map(drop)
    }

    fn cuMemPoolGetAttribute(pool: Handle, which: u32, value: *mut c_void) {
        attribute(pool, which, value)
    }

    fn cuMemPoolSetAttribute(pool: Handle, which: u32, value: *const c_void) {
        let value = if is_small(which) { get(value.cast::<i32>())? as usize } else { get(value.cast::<u64>())? as usize };
        awake()?.limits.insert(key(pool, which), value);
        Ok(())
    }

    fn cuMemPoolSetAccess(pool: Handle, what: *const Access, count: usize) {
        let mut gpu = live()?;
        all(what, count)?.into_iter().try_for_each(|one| set_access(&mut gpu, pool, one))
    }

    // A GPU reads and writes what its own pools give.
    fn cuMemPoolGetAccess(access: *mut u32, pool: Handle, location: *const u64) {
        let gpu = live()?;
        let (of, who) = (gpu.gpu_of_pool(pool)?, gpu.named(device_of(get(location)?))?);
        let given = gpu.pools.get(&pool).and_then(|pool| pool.access.get(&who)).copied().unwrap_or_default();
        put(access, if who == of { READ_AND_WRITE } else { given })
    }

    fn cuMemGetDefaultMemPool(pool: *mut Handle, location: *const u64, _kind: u32) {
        let gpu = live()?;
        put(pool, DEFAULT + pool_place(&gpu, get(location)?)?)
    }

    fn cuMemGetMemPool(pool: *mut Handle, location: *const u64, _kind: u32) {
        let gpu = live()?;
        put(pool, gpu.pool(pool_place(&gpu, get(location)?)?))
    }

    fn cuMemSetMemPool(location: *const u64, _kind: u32, pool: Handle) {
        let device = device_of(get(location)?);
        if cuDeviceSetMemPool(device, pool) == 0 { Ok(()) } else { Err(INVALID_VALUE) }
    }

    fn cuDeviceGraphMemTrim(device: i32) {
        is_named(device)?;
        live()?.memory.trim_graphs();
        Ok(())
    }

    fn cuDeviceGetGraphMemAttribute(device: i32, which: u32, value: *mut u64) {
        is_named(device)?;
        put(value, live()?.memory.of_graphs(which)?)
    }

    fn cuDeviceSetGraphMemAttribute(device: i32, which: u32, value: *const u64) {
        is_named(device)?;
        live()?.memory.set_of_graphs(which, get(value)?)
    }

    #[ptsz]
    fn cuMemAllocFromPoolAsync(
        address: *mut u64,
        bytes: usize,
        pool: Handle,
        stream: Handle,
    ) {
        give_in(stream, address, bytes, Some(pool), "cuMemAllocFromPoolAsync")
    }
}
