//! Memory, for the runtime.

use std::ffi::c_void;

use super::error::{INVALID_DIRECTION, INVALID_PITCH, forward, runtime};
use super::register::symbol;
use crate::call::put;
use crate::driver::batch;
use crate::driver::copy::{self, Sides, bytes};
use crate::driver::device::is_named;
use crate::driver::fill::fill;
use crate::driver::memory::{self as driver, give, give_in, take};
use crate::gpu::{Handle, live};
use crate::memory::{Allocation, Home};
use crate::perform::{submit, submit_and_wait};
use crate::status::{INVALID_VALUE, Result};
use crate::work::{Side, Transfer, Work};

/// `cudaMemcpyKind`
pub(super) fn sides(kind: u32) -> Result<Sides> {
    match kind {
        1 => Ok(Sides::To),
        2 => Ok(Sides::From),
        3 => Ok(Sides::Both),
        0 | 4 => Ok(Sides::Unknown),
        _ => Err(INVALID_DIRECTION),
    }
}

/// An allocation of no bytes is a null pointer here.
fn some(address: *mut u64, bytes: usize, home: Home, call: &str) -> Result {
    if bytes == 0 { put(address, 0) } else { give(address, bytes, home, call) }
}

fn some_in(stream: Handle, address: *mut u64, bytes: usize, pool: Option<Handle>, call: &str) -> Result {
    if bytes == 0 { put(address, 0) } else { give_in(stream, address, bytes, pool, call) }
}

/// Part of a variable.
fn part(of: usize, offset: usize, count: usize) -> Result<u64> {
    let (begin, size) = symbol(of)?;
    match offset.checked_add(count) {
        Some(end) if end <= size => Ok(begin + offset as u64),
        _ => Err(INVALID_VALUE),
    }
}

/// A copy to a variable.
pub(super) fn to_symbol(to: usize, from: u64, count: usize, offset: usize, call: &'static str) -> Result<Work> {
    Ok(bytes(part(to, offset, count)?, from, count, Sides::Unknown, call))
}

/// A copy from a variable.
pub(super) fn from_symbol(to: u64, from: usize, count: usize, offset: usize, call: &'static str) -> Result<Work> {
    Ok(bytes(to, part(from, offset, count)?, count, Sides::Unknown, call))
}

#[derive(Clone, Copy)]
struct Rows {
    to: u64,
    to_pitch: usize,
    from: u64,
    from_pitch: usize,
    width: usize,
    height: usize,
}

fn rectangle(what: Rows, kind: u32, call: &'static str) -> Result<Work> {
    let [to, from] = sides(kind)?.are_device();
    if what.width > what.to_pitch.min(what.from_pitch) {
        return Err(INVALID_PITCH);
    }
    let side = |start: u64, is_device: bool, row: usize| Side { start, is_device, row, plane: 0 };
    let (to, from) = (side(what.to, to, what.to_pitch), side(what.from, from, what.from_pitch));
    Ok(Work::Copy(Transfer { to, from, size: [what.width, what.height, 1], call }))
}

/// The beginning of `cudaPointerAttributes`: CUDA 13 has reserved what is behind it, and CUDA 12 has nothing there.
#[repr(C)]
pub(crate) struct Attributes {
    kind: u32,
    device: i32,
    device_pointer: u64,
    host_pointer: u64,
}

runtime! {
    fn cudaMalloc(address: *mut u64, bytes: usize) {
        some(address, bytes, Home::Device, "cudaMalloc")
    }

    #[ptsz]
    fn cudaMallocAsync(address: *mut u64, bytes: usize, stream: Handle) {
        some_in(stream, address, bytes, None, "cudaMallocAsync")
    }

    #[ptsz]
    fn cudaMallocFromPoolAsync(address: *mut u64, bytes: usize, pool: Handle, stream: Handle) {
        some_in(stream, address, bytes, Some(pool), "cudaMallocFromPoolAsync")
    }

    fn cudaMallocManaged(address: *mut u64, bytes: usize, flags: u32) {
        driver::is_attached(flags)?;
        some(address, bytes, Home::Managed, "cudaMallocManaged")
    }

    fn cudaMallocHost(address: *mut u64, bytes: usize) {
        some(address, bytes, Home::Host, "cudaMallocHost")
    }

    fn cudaHostAlloc(address: *mut u64, bytes: usize, _flags: u32) {
        some(address, bytes, Home::Host, "cudaHostAlloc")
    }

    fn cudaFree(address: u64) {
        take(address, "cudaFree")
    }

    #[ptsz]
    fn cudaFreeAsync(address: u64, stream: Handle) {
        submit(stream, Work::Free(address, "cudaFreeAsync"))
    }

    fn cudaFreeHost(address: u64) {
        driver::free_host(address, "cudaFreeHost")
    }

    #[ptds]
    fn cudaMemcpy(to: u64, from: u64, bytes: usize, kind: u32) {
        submit_and_wait(&copy::bytes(to, from, bytes, sides(kind)?, "cudaMemcpy"))
    }

    #[ptsz]
    fn cudaMemcpyAsync(to: u64, from: u64, bytes: usize, kind: u32, stream: Handle) {
        submit(stream, copy::bytes(to, from, bytes, sides(kind)?, "cudaMemcpyAsync"))
    }

    fn cudaMemcpyPeer(to: u64, to_device: i32, from: u64, from_device: i32, bytes: usize) {
        [to_device, from_device].into_iter().try_for_each(is_named)?;
        submit_and_wait(&copy::bytes(to, from, bytes, Sides::Both, "cudaMemcpyPeer"))
    }

    fn cudaMemcpyPeerAsync(
        to: u64,
        to_device: i32,
        from: u64,
        from_device: i32,
        bytes: usize,
        stream: Handle,
    ) {
        [to_device, from_device].into_iter().try_for_each(is_named)?;
        submit(stream, copy::bytes(to, from, bytes, Sides::Both, "cudaMemcpyPeerAsync"))
    }

    #[ptds]
    fn cudaMemcpy2D(
        to: u64,
        to_pitch: usize,
        from: u64,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) {
        let rows = Rows { to, to_pitch, from, from_pitch, width, height };
        submit_and_wait(&rectangle(rows, kind, "cudaMemcpy2D")?)
    }

    #[ptsz]
    fn cudaMemcpy2DAsync(
        to: u64,
        to_pitch: usize,
        from: u64,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: Handle,
    ) {
        let rows = Rows { to, to_pitch, from, from_pitch, width, height };
        submit(stream, rectangle(rows, kind, "cudaMemcpy2DAsync")?)
    }

    #[ptds]
    fn cudaMemset(to: u64, value: i32, bytes: usize) {
        submit(0, fill(to, value as u8, 0, [bytes, 1], "cudaMemset"))
    }

    #[ptsz]
    fn cudaMemsetAsync(to: u64, value: i32, bytes: usize, stream: Handle) {
        submit(stream, fill(to, value as u8, 0, [bytes, 1], "cudaMemsetAsync"))
    }

    #[ptds]
    fn cudaMemset2D(to: u64, pitch: usize, value: i32, width: usize, height: usize) {
        submit(0, fill(to, value as u8, pitch, [width, height], "cudaMemset2D"))
    }

    #[ptsz]
    fn cudaMemset2DAsync(to: u64, pitch: usize, value: i32, width: usize, height: usize, stream: Handle) {
        submit(stream, fill(to, value as u8, pitch, [width, height], "cudaMemset2DAsync"))
    }

    #[ptds]
    fn cudaMemcpyToSymbol(to: usize, from: u64, bytes: usize, offset: usize, _kind: u32) {
        submit_and_wait(&to_symbol(to, from, bytes, offset, "cudaMemcpyToSymbol")?)
    }

    #[ptsz]
    fn cudaMemcpyToSymbolAsync(to: usize, from: u64, bytes: usize, offset: usize, _kind: u32, stream: Handle) {
        submit(stream, to_symbol(to, from, bytes, offset, "cudaMemcpyToSymbolAsync")?)
    }

    #[ptds]
    fn cudaMemcpyFromSymbol(to: u64, from: usize, bytes: usize, offset: usize, _kind: u32) {
        submit_and_wait(&from_symbol(to, from, bytes, offset, "cudaMemcpyFromSymbol")?)
    }

    #[ptsz]
    fn cudaMemcpyFromSymbolAsync(to: u64, from: usize, bytes: usize, offset: usize, _kind: u32, stream: Handle) {
        submit(stream, from_symbol(to, from, bytes, offset, "cudaMemcpyFromSymbolAsync")?)
    }

    fn cudaGetSymbolAddress(address: *mut u64, of: usize) {
        put(address, symbol(of)?.0)
    }

    fn cudaGetSymbolSize(bytes: *mut usize, of: usize) {
        put(bytes, symbol(of)?.1)
    }

    // The kinds: unregistered, of the host, of the device, managed.
    fn cudaPointerGetAttributes(place: *mut Attributes, address: u64) {
        let gpu = live()?;
        let found = gpu.memory.find_known(address).filter(|one| one.home != Home::Array);
        let device = found.map_or(-2, |one| one.gpu as i32);
        let reached = |one: &Allocation| if gpu.has_access(gpu.here(), one) { address } else { 0 };
        let (kind, device_pointer, host_pointer) = match found {
            None => (0, 0, address),
            Some(one) if one.is_managed() => (3, address, address),
            Some(one) if one.is_pinned() => (1, address, address),
            Some(one) => (2, reached(one), 0),
        };
        put(place, Attributes { kind, device, device_pointer, host_pointer })
    }
}

forward! {
    cudaMemGetInfo(free: *mut usize, total: *mut usize) => driver::cuMemGetInfo_v2, free, total;
    cudaMallocPitch(address: *mut u64, pitch: *mut usize, width: usize, height: usize)
        => driver::cuMemAllocPitch_v2, address, pitch, width, height, 4;
    cudaHostRegister(address: u64, bytes: usize, flags: u32) => driver::cuMemHostRegister_v2, address, bytes, flags;
    cudaHostUnregister(address: u64) => driver::cuMemHostUnregister, address;
    cudaHostGetFlags(flags: *mut u32, host: u64) => driver::cuMemHostGetFlags, flags, host;
    cudaHostGetDevicePointer(device: *mut u64, host: u64, flags: u32)
        => driver::cuMemHostGetDevicePointer_v2, device, host, flags;
    #[also(cudaMemPrefetchAsync_v2)]
    #[also_ptsz(cudaMemPrefetchAsync_v2_ptsz)]
    #[ptsz]
    cudaMemPrefetchAsync(address: u64, bytes: usize, location: u64, flags: u32, stream: Handle)
        => driver::cuMemPrefetchAsync_v2, address, bytes, location, flags, stream;
    #[ptsz]
    cudaMemPrefetchBatchAsync(
        addresses: *const u64, sizes: *const usize, count: usize, locations: *const u64, indices: *const usize, kinds: usize,
        flags: u64, stream: Handle,
    ) => batch::cuMemPrefetchBatchAsync, addresses, sizes, count, locations, indices, kinds, flags, stream;
    #[ptsz]
    cudaMemcpyBatchAsync(
        to: *const u64, from: *const u64, sizes: *const usize, count: usize, attributes: *const batch::Attributes,
        indices: *const usize, kinds: usize, stream: Handle,
    ) => batch::cuMemcpyBatchAsync_v2, to, from, sizes, count, attributes, indices, kinds, stream;
    #[ptsz]
    cudaMemcpyWithAttributesAsync(to: u64, from: u64, bytes: usize, what: *const batch::Attributes, stream: Handle)
        => batch::cuMemcpyWithAttributesAsync, to, from, bytes, what, stream;
    #[ptsz]
    cudaStreamAttachMemAsync(stream: Handle, address: u64, bytes: usize, flags: u32)
        => driver::cuStreamAttachMemAsync, stream, address, bytes, flags;
    cudaMemRangeGetAttribute(value: *mut c_void, size: usize, which: u32, address: u64, bytes: usize)
        => driver::cuMemRangeGetAttribute, value, size, which, address, bytes;
    #[also(cudaMemAdvise_v2)]
    cudaMemAdvise(address: u64, bytes: usize, advice: u32, location: u64)
        => driver::cuMemAdvise_v2, address, bytes, advice, location;
}
