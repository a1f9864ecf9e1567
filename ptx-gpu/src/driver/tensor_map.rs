//! Tensor maps. NVIDIA does not publish what is in the 128 bytes, so these are of the interpreter's own layout.

use std::ffi::c_void;

use ptx_interpreter::tensor_map::{Along, BYTES, Columns, TensorMap};

use crate::call::{calls, get};
use crate::output::note;
use crate::settings::SETTINGS;
use crate::status::{INVALID_VALUE, Result};

/// The first numbers of an array of the program.
fn array<T: Copy + Default, const N: usize>(place: *const T, count: usize) -> Result<[T; N]> {
    let mut all = [T::default(); N];
    for (at, one) in all.iter_mut().enumerate().take(count) {
        // `get` refuses what is null.
        *one = get(if place.is_null() { place } else { place.wrapping_add(at) })?;
    }
    Ok(all)
}

/// Writes the map, if the driver would take it.
fn write(name: &str, place: *mut [u8; BYTES], map: &TensorMap) -> Result {
    if place.is_null() || !place.addr().is_multiple_of(64) {
        note(&format!("{name}: tensorMap is {place:p}: it must be a place that is aligned to 64 bytes"));
        return Err(INVALID_VALUE);
    }
    map.check_for(SETTINGS.sm).map_err(|why| {
        note(&format!("{name}: {why}"));
        INVALID_VALUE
    })?;
    // SAFETY: the program hands over a place for the map.
    unsafe { place.write(map.encode()) };
    Ok(())
}

/// The check reports more dimensions than a map can have.
fn dimensions(rank: u32) -> usize {
    rank.min(5) as usize
}

/// A map with what all kinds of maps have: the lists of the program.
fn shaped(map: TensorMap, sizes: *const u64, strides: *const u64, steps: *const u32) -> Result<TensorMap> {
    let count = dimensions(map.rank);
    Ok(TensorMap {
        sizes: array(sizes, count)?,
        strides: array(strides, count.saturating_sub(1))?,
        steps: array(steps, count)?,
        ..map
    })
}

calls! {
    fn cuTensorMapEncodeTiled(
        map: *mut [u8; BYTES],
        element: u32,
        rank: u32,
        address: *const c_void,
        sizes: *const u64,
        strides: *const u64,
        tile: *const u32,
        steps: *const u32,
        interleave: u32,
        swizzle: u32,
        promotion: u32,
        fill: u32,
    ) {
        let tile = array(tile, dimensions(rank))?;
        let described =
            TensorMap { rank, tile, element, interleave, promotion, fill, address: address as u64, ..TensorMap::default() };
        write("cuTensorMapEncodeTiled", map, &shaped(described, sizes, strides, steps)?.swizzled(swizzle))
    }

    fn cuTensorMapEncodeIm2col(
        map: *mut [u8; BYTES],
        element: u32,
        rank: u32,
        address: *const c_void,
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
    ) {
        let spatial = dimensions(rank).saturating_sub(2);
        let (lower, upper) = (array(lower, spatial)?, array(upper, spatial)?);
        let columns = Columns { lower, upper, channels, pixels, along: Along::Image };
        let columns = Some(columns);
        let described =
            TensorMap { rank, columns, element, interleave, promotion, fill, address: address as u64, ..TensorMap::default() };
        write("cuTensorMapEncodeIm2col", map, &shaped(described, sizes, strides, steps)?.swizzled(swizzle))
    }

    fn cuTensorMapEncodeIm2colWide(
        map: *mut [u8; BYTES],
        element: u32,
        rank: u32,
        address: *const c_void,
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
    ) {
        let along = match mode {
            0 => Along::Width,
            1 => Along::Width128,
            _ => {
                note(&format!("cuTensorMapEncodeIm2colWide: mode is {mode}: 0 and 1 are known"));
                return Err(INVALID_VALUE);
            }
        };
        let columns = Columns { lower: [lower, 0, 0], upper: [upper, 0, 0], channels, pixels, along };
        let columns = Some(columns);
        let described =
            TensorMap { rank, columns, element, interleave, promotion, fill, address: address as u64, ..TensorMap::default() };
        write("cuTensorMapEncodeIm2colWide", map, &shaped(described, sizes, strides, steps)?.swizzled(swizzle))
    }

    fn cuTensorMapReplaceAddress(map: *mut [u8; BYTES], address: *const c_void) {
        let Some(described) = TensorMap::decode(&get(map.cast_const())?) else { return Err(INVALID_VALUE) };
        write("cuTensorMapReplaceAddress", map, &TensorMap { address: address as u64, ..described })
    }
}
