//! Device memory, copies, and maps of tensors.

use std::ffi::c_void;
use std::ptr::{copy_nonoverlapping, write_bytes};

use super::columns::{Along, Columns};
use super::hostile::{LEGACY, arrive, stall_after_kernel, take_effect};
use super::tensor_map::{BYTES, TensorMap};
use super::{INVALID_VALUE, allocate, free, is_device_memory, note};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32 {
    if bytes == 0 {
        return INVALID_VALUE;
    }
    unsafe { address.write(allocate(bytes)) };
    note(format!("cuMemAlloc {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(address: u64) -> u32 {
    free(address).map_or(INVALID_VALUE, |bytes| note(format!("cuMemFree {bytes}")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(address: *mut u64, bytes: usize) -> u32 {
    if bytes == 0 {
        return INVALID_VALUE;
    }
    unsafe { address.write(allocate(bytes)) };
    note(format!("cuMemAllocHost {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(address: u64) -> u32 {
    free(address).map_or(INVALID_VALUE, |bytes| note(format!("cuMemFreeHost {bytes}")))
}

/// What NVIDIA's manual asks of the arguments; the map is its dimensions, 1 where it is one of columns, and a mark.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeTiled(
    map: *mut [u8; BYTES],
    element: u32,
    rank: u32,
    address: u64,
    sizes: *const u64,
    strides: *const u64,
    tile: *const u32,
    steps: *const u32,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> u32 {
    let described = TensorMap { rank, element, address, interleave, promotion, fill, ..TensorMap::default() };
    let described = unsafe { TensorMap { tile: first(tile, rank), ..shaped(described, sizes, strides, steps) } };
    unsafe { write_map(map, described.swizzled(swizzle)) }
        .map_or(INVALID_VALUE, |()| note(format!("cuTensorMapEncodeTiled {rank}")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeIm2col(
    map: *mut [u8; BYTES],
    element: u32,
    rank: u32,
    address: u64,
    sizes: *const u64,
    strides: *const u64,
    lower: *const i32,
    upper: *const i32,
    channels: u32,
    pixels: u32,
    steps: *const u32,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> u32 {
    let spatial = rank.saturating_sub(2).min(3);
    let [lower, upper] = [lower, upper].map(|corner| unsafe { first(corner, spatial) });
    let columns = Some(Columns { lower, upper, channels, pixels, along: Along::Image });
    let described = TensorMap { rank, columns, element, address, interleave, promotion, fill, ..TensorMap::default() };
    let described = unsafe { shaped(described, sizes, strides, steps) };
    unsafe { write_map(map, described.swizzled(swizzle)) }
        .map_or(INVALID_VALUE, |()| note(format!("cuTensorMapEncodeIm2col {rank}")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeIm2colWide(
    map: *mut [u8; BYTES],
    element: u32,
    rank: u32,
    address: u64,
    sizes: *const u64,
    strides: *const u64,
    lower: i32,
    upper: i32,
    channels: u32,
    pixels: u32,
    steps: *const u32,
    interleave: u32,
    mode: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> u32 {
    let [lower, upper] = [lower, upper].map(|corner| [corner, 0, 0]);
    let along = if mode == 0 { Along::Width } else { Along::Width128 };
    let columns = Some(Columns { lower, upper, channels, pixels, along });
    let described = TensorMap { rank, columns, element, address, interleave, promotion, fill, ..TensorMap::default() };
    let described = unsafe { shaped(described, sizes, strides, steps) };
    unsafe { write_map(map, described.swizzled(swizzle)) }
        .map_or(INVALID_VALUE, |()| note(format!("cuTensorMapEncodeIm2colWide {rank}")))
}

/// The first numbers of an array, as many as there are dimensions.
unsafe fn first<T: Copy + Default, const N: usize>(all: *const T, count: u32) -> [T; N] {
    std::array::from_fn(|at| if at < count as usize { unsafe { all.add(at).read() } } else { T::default() })
}

/// What both kinds of map have in common.
unsafe fn shaped(map: TensorMap, sizes: *const u64, strides: *const u64, steps: *const u32) -> TensorMap {
    let rank = map.rank;
    unsafe {
        TensorMap {
            sizes: first(sizes, rank),
            strides: first(strides, rank.saturating_sub(1)),
            steps: first(steps, rank),
            ..map
        }
    }
}

unsafe fn write_map(map: *mut [u8; BYTES], described: TensorMap) -> Option<()> {
    if !(map as u64).is_multiple_of(64) || described.check().is_err() || !is_device_memory(described.address, 1) {
        return None;
    }
    unsafe { map.write(described.encode()) };
    Some(())
}

/// As the real one does, it keeps what was in `from`, and comes back before that is on the GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) -> u32 {
    unsafe { cuMemcpyHtoDAsync_v2(to, from, bytes, LEGACY) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: *mut c_void) -> u32 {
    if !is_device_memory(to, bytes) {
        return INVALID_VALUE;
    }
    stall_after_kernel("cuMemcpyHtoD");
    let kept = unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec();
    take_effect(stream, move || unsafe { copy_nonoverlapping(kept.as_ptr(), to as *mut u8, bytes) });
    note(format!("cuMemcpyHtoD {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) -> u32 {
    if !is_device_memory(from, bytes) {
        return INVALID_VALUE;
    }
    stall_after_kernel("cuMemcpyDtoH");
    arrive(LEGACY);
    unsafe { copy_nonoverlapping(from as *const u8, to, bytes) };
    note(format!("cuMemcpyDtoH {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2(to: u64, value: u8, bytes: usize) -> u32 {
    unsafe { cuMemsetD8Async(to, value, bytes, LEGACY) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(to: u64, value: u8, bytes: usize, stream: *mut c_void) -> u32 {
    if !is_device_memory(to, bytes) {
        return INVALID_VALUE;
    }
    take_effect(stream, move || unsafe { write_bytes(to as *mut u8, value, bytes) });
    note(format!("cuMemsetD8 {value:#04x} {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> u32 {
    if !is_device_memory(to, bytes) || !is_device_memory(from, bytes) {
        return INVALID_VALUE;
    }
    take_effect(stream, move || unsafe { copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) });
    note(format!("cuMemcpyDtoDAsync {bytes}"))
}
