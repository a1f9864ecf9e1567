//! What a pointer is.

use std::ffi::c_void;

use crate::call::{calls, get, put};
use crate::gpu::{Gpu, current, live};
use crate::memory::Allocation;
use crate::status::{INVALID_VALUE, Result};

/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_DEVICE`
const HOST: u32 = 1;
const DEVICE: u32 = 2;

/// `CU_POINTER_ATTRIBUTE_…`
fn attribute(gpu: &Gpu, value: *mut c_void, which: u32, address: u64, one: &Allocation) -> Result {
    let of_host = one.is_pinned();
    match which {
        1 if one.gpu == gpu.here() => put(value.cast(), current()),
        1 => put(value.cast(), gpu.gpus[one.gpu].primary),
        2 => put(value.cast(), if of_host { HOST } else { DEVICE }),
        3 => put(value.cast(), address),
        4 if of_host || one.is_managed() => put(value.cast(), address),
        4 => put(value.cast(), 0u64).and(Err(INVALID_VALUE)),
        6 => put(value.cast(), 1u32),
        7 => put(value.cast(), one.number),
        8 => put(value.cast(), u8::from(one.is_managed())),
        9 => put(value.cast(), one.gpu as i32),
        10 => put(value.cast(), 0u8),
        11 => put(value.cast(), one.begin),
        12 => put(value.cast(), one.bytes),
        13 => put(value.cast(), 1u8),
        14 => put(value.cast(), 0u64),
        15 => put(value.cast(), 0u8),
        16 => put(value.cast(), 3u32),
        17 => put(value.cast(), 0u64),
        _ => Err(INVALID_VALUE),
    }
}

calls! {
    fn cuPointerGetAttribute(value: *mut c_void, which: u32, address: u64) {
        let gpu = live()?;
        attribute(&gpu, value, which, address, gpu.memory.find_known(address).ok_or(INVALID_VALUE)?)
    }

    // Of what is no memory of the GPU, everything is 0.
    fn cuPointerGetAttributes(count: u32, which: *const u32, values: *const *mut c_void, address: u64) {
        let gpu = live()?;
        for at in 0..count as usize {
            let (which, value) = (get(which.wrapping_add(at))?, get(values.wrapping_add(at))?);
            match gpu.memory.find_known(address) {
                Some(one) => attribute(&gpu, value, which, address, one).or_else(|status| match which {
                    4 => Ok(()),
                    _ => Err(status),
                })?,
                None => match which {
                    2 | 6 | 16 => put(value.cast(), 0u32)?,
                    9 => put(value.cast(), -2i32)?,
                    8 | 10 | 13 | 15 => put(value.cast(), 0u8)?,
                    _ => put(value.cast(), 0u64)?,
                },
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(_value: *const c_void, _which: u32, address: u64) {
        live()?.memory.find_known(address).map(drop).ok_or(INVALID_VALUE)
    }
}
