//! Arrays.

use ptx_interpreter::{Element, Number};

use crate::array::{Array, element};
use crate::call::{calls, get, put};
use crate::gpu::{Handle, live};
use crate::perform::{submit, submit_and_wait};
use crate::status::{INVALID_VALUE, Result};
use crate::work::{Side, Transfer, Work};

/// `CUDA_ARRAY_DESCRIPTOR`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Plane {
    size: [usize; 2],
    format: u32,
    channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Cuboid {
    size: [usize; 3],
    format: u32,
    channels: u32,
    flags: u32,
}

/// `CU_AD_FORMAT_…`, its numbers, and their bytes.
const FORMATS: [(u32, Number, usize); 8] = [
    (1, Number::Unsigned, 1),
    (2, Number::Unsigned, 2),
    (3, Number::Unsigned, 4),
    (8, Number::Signed, 1),
    (9, Number::Signed, 2),
    (10, Number::Signed, 4),
    (16, Number::Float, 2),
    (32, Number::Float, 4),
];

/// The element of a format.
pub(super) fn element_of(format: u32, channels: u32) -> Result<Element> {
    let known = FORMATS.iter().find(|(known, ..)| *known == format);
    known.and_then(|(_, number, bytes)| element(*number, *bytes, channels as usize)).ok_or(INVALID_VALUE)
}

/// The format of an element, and its channels.
pub(super) fn format_of(element: Element) -> (u32, u32) {
    let known = FORMATS.iter().find(|(_, number, bytes)| (*number, *bytes) == (element.number, element.bytes));
    (known.map_or(0, |(format, ..)| *format), element.channels as u32)
}

fn create(place: *mut Handle, what: Cuboid, call: &str) -> Result {
    let element = element_of(what.format, what.channels)?;
    let mut gpu = live()?;
    gpu.is_unsafe()?;
    put(place, gpu.create_array(element, what.size, what.flags, call)?)
}

pub(crate) fn array(handle: Handle) -> Result<Array> {
    live()?.array(handle).copied()
}

/// The copy of bytes to an array, from its byte `at` on.
pub(crate) fn to_array(
    to: Handle,
    at: usize,
    from: u64,
    is_device: bool,
    count: usize,
    call: &'static str,
) -> Result<Work> {
    let to = array(to)?.bytes(at, count, call)?;
    Ok(Transfer::of_bytes(to, Side::of_bytes(from, is_device, count), count, call))
}

pub(crate) fn from_array(
    to: u64,
    is_device: bool,
    from: Handle,
    at: usize,
    count: usize,
    call: &'static str,
) -> Result<Work> {
    let from = array(from)?.bytes(at, count, call)?;
    Ok(Transfer::of_bytes(Side::of_bytes(to, is_device, count), from, count, call))
}

calls! {
    fn cuArrayCreate_v2(place: *mut Handle, what: *const Plane) {
        let Plane { size: [width, height], format, channels } = get(what)?;
        create(place, Cuboid { size: [width, height, 0], format, channels, flags: 0 }, "cuArrayCreate_v2")
    }

    fn cuArray3DCreate_v2(place: *mut Handle, what: *const Cuboid) {
        create(place, get(what)?, "cuArray3DCreate_v2")
    }

    fn cuArrayDestroy(array: Handle) {
        let mut gpu = live()?;
        gpu.is_unsafe()?;
        gpu.destroy_array(array, "cuArrayDestroy")
    }

    fn cuArrayGetDescriptor_v2(place: *mut Plane, of: Handle) {
        let array = array(of)?;
        let (format, channels) = format_of(array.element);
        put(place, Plane { size: [array.size[0], array.size[1]], format, channels })
    }

    fn cuArray3DGetDescriptor_v2(place: *mut Cuboid, of: Handle) {
        let array = array(of)?;
        let (format, channels) = format_of(array.element);
        put(place, Cuboid { size: array.size, format, channels, flags: array.flags })
    }

    #[ptds]
    fn cuMemcpyHtoA_v2(to: Handle, at: usize, from: u64, count: usize) {
        submit_and_wait(&to_array(to, at, from, false, count, "cuMemcpyHtoA_v2")?)
    }

    #[ptds]
    fn cuMemcpyAtoH_v2(to: u64, from: Handle, at: usize, count: usize) {
        submit_and_wait(&from_array(to, false, from, at, count, "cuMemcpyAtoH_v2")?)
    }

    #[ptds]
    fn cuMemcpyDtoA_v2(to: Handle, at: usize, from: u64, count: usize) {
        submit_and_wait(&to_array(to, at, from, true, count, "cuMemcpyDtoA_v2")?)
    }

    #[ptds]
    fn cuMemcpyAtoD_v2(to: u64, from: Handle, at: usize, count: usize) {
        submit_and_wait(&from_array(to, true, from, at, count, "cuMemcpyAtoD_v2")?)
    }

    #[ptds]
    fn cuMemcpyAtoA_v2(to: Handle, to_at: usize, from: Handle, at: usize, count: usize) {
        let call = "cuMemcpyAtoA_v2";
        let to = array(to)?.bytes(to_at, count, call)?;
        let from = array(from)?.bytes(at, count, call)?;
        submit_and_wait(&Transfer::of_bytes(to, from, count, call))
    }

    #[ptsz]
    fn cuMemcpyHtoAAsync_v2(to: Handle, at: usize, from: u64, count: usize, stream: Handle) {
        submit(stream, to_array(to, at, from, false, count, "cuMemcpyHtoAAsync_v2")?)
    }

    #[ptsz]
    fn cuMemcpyAtoHAsync_v2(to: u64, from: Handle, at: usize, count: usize, stream: Handle) {
        submit(stream, from_array(to, false, from, at, count, "cuMemcpyAtoHAsync_v2")?)
    }
}
