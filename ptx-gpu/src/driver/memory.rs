//! Memory is allocated and freed.

use std::ffi::c_void;

use crate::call::{calls, put, put_if};
use crate::caller::Caller;
use crate::gpu::{Gpu, Handle, live};
use crate::memory::Home;
use crate::perform::submit;
use crate::status::{INVALID_VALUE, OUT_OF_MEMORY, Result};
use crate::work::Work;

/// Rows of a pitched allocation begin at a multiple of this.
const PITCH: usize = 512;

/// Gives memory of a kind.
pub(crate) fn give(address: *mut u64, bytes: usize, home: Home, call: &str) -> Result {
    let mut gpu = live()?;
    gpu.is_unsafe()?;
    let here = gpu.here();
    put(address, allocate(&mut gpu, bytes, home, here, call)?)
}

/// Gives device memory in a stream, of a pool or of that which the stream's GPU uses. A stream that captures gives it anew each time that
/// its graph is launched.
pub(crate) fn give_in(stream: Handle, address: *mut u64, bytes: usize, pool: Option<Handle>, call: &str) -> Result {
    let caller = Caller::of_call();
    let mut gpu = live()?;
    let (stream, captures) = gpu.enter(stream)?;
    let of_stream = gpu.order.gpu_of(stream);
    let pool = pool.unwrap_or_else(|| gpu.pool(of_stream));
    let of = gpu.gpu_of_pool(pool)?;
    if !captures {
        let mut point = gpu.order.begin(stream, caller);
        let place = allocate(&mut gpu, bytes, Home::Device, of, call)?;
        gpu.memory.is_of_pool(place, pool);
        gpu.has_allocated(place, call, &mut point);
        gpu.order.end(stream, &point.clock);
        return put(address, place);
    }
    let place = gpu.memory.allocate_asleep(bytes, of, call)?;
    gpu.record(stream, Work::Allocate(place, bytes))?;
    put(address, place)
}

fn allocate(gpu: &mut Gpu, bytes: usize, home: Home, of: usize, call: &str) -> Result<u64> {
    if home != Home::Host && bytes > gpu.free_memory(of) {
        return Err(OUT_OF_MEMORY);
    }
    let place = gpu.memory.allocate(bytes, home, of, call)?;
    gpu.has_allocation(place);
    Ok(place)
}

/// Frees device memory. GPUs wait for everything first, but not if a stream has allocated it.
pub(crate) fn take(address: u64, call: &str) -> Result {
    let mut gpu = live()?;
    gpu.is_unsafe()?;
    if gpu.memory.find(address).is_some_and(|one| one.is_of_stream()) {
        gpu.frees_without_waiting(address);
        return gpu.memory.free(address, &[Home::Device], call);
    }
    gpu.waits_to_free(address);
    gpu.memory.free(address, &[Home::Device, Home::Managed, Home::Graph], call)
}

/// Frees memory of the host. No document says that this waits for the GPU.
pub(crate) fn free_host(address: u64, call: &str) -> Result {
    let mut gpu = live()?;
    gpu.is_unsafe()?;
    gpu.frees_without_waiting(address);
    gpu.memory.free(address, &[Home::Host], call)
}

/// `CU_MEM_ATTACH_GLOBAL` or `CU_MEM_ATTACH_HOST`
pub(crate) fn is_attached(flags: u32) -> Result {
    if flags == 1 || flags == 2 { Ok(()) } else { Err(INVALID_VALUE) }
}

/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub(super) const DEVICE: u32 = 1;
/// The host as the number of a device.
const HOST: i32 = -1;

/// Where memory may be: on a GPU, or on the host.
fn is_place(gpu: &Gpu, device: i32) -> Result {
    if device == HOST { Ok(()) } else { gpu.named(device).map(drop) }
}

/// The device of a place, which is a structure of a kind and a number.
pub(super) fn device_of(location: u64) -> i32 {
    if location as u32 == DEVICE { (location >> 32) as i32 } else { HOST }
}

/// Managed memory is to be on the device, or on the host.
pub(super) fn prefetched(address: u64, bytes: usize, device: i32, stream: Handle, call: &str) -> Result {
    let mut gpu = live()?;
    is_place(&gpu, device)?;
    gpu.enter_only(stream)?;
    gpu.memory.expect_managed(address, bytes, call)
}

/// `CU_MEMHOSTREGISTER_READ_ONLY`
const TO_READ: u32 = 8;

calls! {
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let gpu = live()?;
        put_if(free, gpu.free_memory(gpu.here()))?;
        put_if(total, gpu.device.memory)
    }

    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        give(address, bytes, Home::Device, "cuMemAlloc_v2")
    }

    fn cuMemAllocPitch_v2(address: *mut u64, pitch: *mut usize, width: usize, height: usize, _element: u32) {
        let row = width.next_multiple_of(PITCH);
        put(pitch, row)?;
        if row == 0 || height == 0 {
            return put(address, 0);
        }
        give(address, row.checked_mul(height).ok_or(INVALID_VALUE)?, Home::Device, "cuMemAllocPitch_v2")
    }

    fn cuMemAllocManaged(address: *mut u64, bytes: usize, flags: u32) {
        is_attached(flags)?;
        give(address, bytes, Home::Managed, "cuMemAllocManaged")
    }

    fn cuMemFree_v2(address: u64) {
        take(address, "cuMemFree_v2")
    }

    #[ptsz]
    fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: Handle) {
        give_in(stream, address, bytes, None, "cuMemAllocAsync")
    }

    #[ptsz]
    fn cuMemFreeAsync(address: u64, stream: Handle) {
        submit(stream, Work::Free(address, "cuMemFreeAsync"))
    }

    fn cuMemAllocHost_v2(address: *mut u64, bytes: usize) {
        give(address, bytes, Home::Host, "cuMemAllocHost_v2")
    }

    fn cuMemHostAlloc(address: *mut u64, bytes: usize, _flags: u32) {
        give(address, bytes, Home::Host, "cuMemHostAlloc")
    }

    fn cuMemFreeHost(address: u64) {
        free_host(address, "cuMemFreeHost")
    }

    fn cuMemHostRegister_v2(address: u64, bytes: usize, flags: u32) {
        let mut gpu = live()?;
        gpu.is_unsafe()?;
        let here = gpu.here();
        gpu.memory.register(address, bytes, here, flags & TO_READ != 0)
    }

    fn cuMemHostUnregister(address: u64) {
        let mut gpu = live()?;
        gpu.is_unsafe()?;
        gpu.frees_without_waiting(address);
        gpu.memory.unregister(address)
    }

    fn cuMemHostGetDevicePointer_v2(device: *mut u64, host: u64, _flags: u32) {
        match live()?.memory.find(host) {
            Some(one) if one.home != Home::Device => put(device, host),
            _ => Err(INVALID_VALUE),
        }
    }

    fn cuMemHostGetFlags(flags: *mut u32, host: u64) {
        live()?.memory.find(host).ok_or(INVALID_VALUE)?;
        put(flags, 2)
    }

    fn cuMemGetAddressRange_v2(begin: *mut u64, bytes: *mut usize, address: u64) {
        let gpu = live()?;
        let one = gpu.memory.find_known(address).ok_or(crate::status::NOT_FOUND)?;
        put_if(begin, one.begin)?;
        put_if(bytes, one.bytes)
    }

    fn cuMemAdvise(address: u64, bytes: usize, _advice: u32, _device: i32) {
        live()?.memory.expect_managed(address, bytes, "cuMemAdvise")
    }

    // Where it is to be is a structure of a kind and a number.
    fn cuMemAdvise_v2(address: u64, bytes: usize, _advice: u32, _location: u64) {
        live()?.memory.expect_managed(address, bytes, "cuMemAdvise_v2")
    }

    #[ptsz]
    fn cuMemPrefetchAsync(address: u64, bytes: usize, device: i32, stream: Handle) {
        prefetched(address, bytes, device, stream, "cuMemPrefetchAsync")
    }

    #[ptsz]
    fn cuMemPrefetchAsync_v2(
        address: u64,
        bytes: usize,
        location: u64,
        _flags: u32,
        stream: Handle,
    ) {
        prefetched(address, bytes, device_of(location), stream, "cuMemPrefetchAsync_v2")
    }

    #[ptsz]
    fn cuStreamAttachMemAsync(stream: Handle, address: u64, _bytes: usize, _flags: u32) {
        let mut gpu = live()?;
        gpu.enter_only(stream)?;
        gpu.memory.expect(address, 1, "cuStreamAttachMemAsync")
    }

    fn cuMemRangeGetAttribute(value: *mut c_void, size: usize, _which: u32, address: u64, bytes: usize) {
        live()?.memory.expect(address, bytes, "cuMemRangeGetAttribute")?;
        if size != 4 {
            return Err(INVALID_VALUE);
        }
        put(value.cast::<i32>(), 0)
    }
}
