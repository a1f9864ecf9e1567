//! Arrays, for the runtime.

use ptx_interpreter::{Element, Number};

use super::copy_box::Extent;
use super::error::{INVALID_CHANNELS, runtime};
use super::memory::sides;
use crate::array::element;
use crate::call::{get, put, put_if};
use crate::driver::array::{self as driver, array};
use crate::driver::copy::Sides;
use crate::gpu::{Handle, live};
use crate::perform::{submit, submit_and_wait};
use crate::status::Result;
use crate::work::{Side, Transfer, Work};

/// `cudaChannelFormatDesc`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Channels {
    bits: [i32; 4],
    kind: u32,
}

impl Channels {
    pub(super) fn element(&self) -> Result<Element> {
        let number = [Number::Signed, Number::Unsigned, Number::Float].get(self.kind as usize);
        let count = self.bits.iter().take_while(|bits| **bits != 0).count();
        let bits = self.bits[0];
        let are_alike = self.bits[..count].iter().all(|other| *other == bits);
        let none_behind = self.bits[count..].iter().all(|other| *other == 0);
        let is_whole = bits > 0 && bits % 8 == 0 && are_alike && none_behind;
        let known = number.filter(|_| is_whole).and_then(|number| element(*number, bits as usize / 8, count));
        known.ok_or(INVALID_CHANNELS)
    }

    pub(super) fn none() -> Channels {
        Channels { bits: [0; 4], kind: 0 }
    }

    pub(super) fn of(element: Element) -> Channels {
        let kind = match element.number {
            Number::Signed => 0,
            Number::Unsigned => 1,
            Number::Float => 2,
        };
        let bits = |channel: usize| if channel < element.channels { 8 * element.bytes as i32 } else { 0 };
        Channels { bits: [0, 1, 2, 3].map(bits), kind }
    }
}

fn create(place: *mut Handle, channels: *const Channels, size: [usize; 3], flags: u32, call: &str) -> Result {
    let element = get(channels)?.element()?;
    let mut gpu = live()?;
    gpu.is_unsafe()?;
    put(place, gpu.create_array(element, size, flags, call)?)
}

/// Memory that a pointer reaches.
struct Rows {
    start: u64,
    pitch: usize,
}

impl Rows {
    fn side(&self, is_device: bool) -> Side {
        Side { start: self.start, is_device, row: self.pitch, plane: 0 }
    }
}

fn to_array(to: Handle, at: [usize; 2], from: Rows, size: [usize; 2], kind: u32, call: &'static str) -> Result<Work> {
    let (size, [_, is_device]) = ([size[0], size[1], 1], sides(kind)?.are_device());
    let to = array(to)?.side([at[0], at[1], 0], size, call)?;
    Ok(Work::Copy(Transfer { to, from: from.side(is_device), size, call }))
}

fn from_array(to: Rows, from: Handle, at: [usize; 2], size: [usize; 2], kind: u32, call: &'static str) -> Result<Work> {
    let (size, [is_device, _]) = ([size[0], size[1], 1], sides(kind)?.are_device());
    let from = array(from)?.side([at[0], at[1], 0], size, call)?;
    Ok(Work::Copy(Transfer { to: to.side(is_device), from, size, call }))
}

/// Bytes go on from row to row, from a byte of a row on.
fn bytes_to_array(
    to: Handle,
    at: [usize; 2],
    from: u64,
    count: usize,
    sides: Sides,
    call: &'static str,
) -> Result<Work> {
    let (at, [_, is_device]) = (array(to)?.offset(at), sides.are_device());
    driver::to_array(to, at, from, is_device, count, call)
}

fn bytes_from_array(
    to: u64,
    from: Handle,
    at: [usize; 2],
    count: usize,
    sides: Sides,
    call: &'static str,
) -> Result<Work> {
    let (at, [is_device, _]) = (array(from)?.offset(at), sides.are_device());
    driver::from_array(to, is_device, from, at, count, call)
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}

runtime! {
    fn cudaMallocArray(place: *mut Handle, channels: *const Channels, width: usize, height: usize, flags: u32) {
        create(place, channels, [width, height, 0], flags, "cudaMallocArray")
    }

    fn cudaMalloc3DArray(place: *mut Handle, channels: *const Channels, size: Extent, flags: u32) {
        create(place, channels, size.sizes(), flags, "cudaMalloc3DArray")
    }

    fn cudaFreeArray(array: Handle) {
        let mut gpu = live()?;
        gpu.is_unsafe()?;
        gpu.destroy_array(array, "cudaFreeArray")
    }

    fn cudaArrayGetInfo(channels: *mut Channels, size: *mut Extent, flags: *mut u32, of: Handle) {
        let array = array(of)?;
        put_if(channels, Channels::of(array.element))?;
        put_if(size, Extent::of(array.size))?;
        put_if(flags, array.flags)
    }

    fn cudaGetChannelDesc(channels: *mut Channels, of: Handle) {
        put(channels, Channels::of(array(of)?.element))
    }

    #[ptds]
    fn cudaMemcpy2DToArray(
        to: Handle,
        x: usize,
        y: usize,
        from: u64,
        pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) {
        let from = Rows { start: from, pitch };
        submit_and_wait(&to_array(to, [x, y], from, [width, height], kind, "cudaMemcpy2DToArray")?)
    }

    #[ptsz]
    fn cudaMemcpy2DToArrayAsync(
        to: Handle,
        x: usize,
        y: usize,
        from: u64,
        pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: Handle,
    ) {
        let from = Rows { start: from, pitch };
        submit(stream, to_array(to, [x, y], from, [width, height], kind, "cudaMemcpy2DToArrayAsync")?)
    }

    #[ptds]
    fn cudaMemcpy2DFromArray(
        to: u64,
        pitch: usize,
        from: Handle,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) {
        let to = Rows { start: to, pitch };
        submit_and_wait(&from_array(to, from, [x, y], [width, height], kind, "cudaMemcpy2DFromArray")?)
    }

    #[ptsz]
    fn cudaMemcpy2DFromArrayAsync(
        to: u64,
        pitch: usize,
        from: Handle,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: Handle,
    ) {
        let to = Rows { start: to, pitch };
        submit(stream, from_array(to, from, [x, y], [width, height], kind, "cudaMemcpy2DFromArrayAsync")?)
    }

    #[ptds]
    fn cudaMemcpy2DArrayToArray(
        to: Handle,
        to_x: usize,
        to_y: usize,
        from: Handle,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        _kind: u32,
    ) {
        let (size, call) = ([width, height, 1], "cudaMemcpy2DArrayToArray");
        let to = array(to)?.side([to_x, to_y, 0], size, call)?;
        let from = array(from)?.side([x, y, 0], size, call)?;
        submit_and_wait(&Work::Copy(Transfer { to, from, size, call }))
    }

    #[ptds]
    fn cudaMemcpyToArray(to: Handle, x: usize, y: usize, from: u64, count: usize, kind: u32) {
        submit_and_wait(&bytes_to_array(to, [x, y], from, count, sides(kind)?, "cudaMemcpyToArray")?)
    }

    #[ptsz]
    fn cudaMemcpyToArrayAsync(to: Handle, x: usize, y: usize, from: u64, count: usize, kind: u32, stream: Handle) {
        submit(stream, bytes_to_array(to, [x, y], from, count, sides(kind)?, "cudaMemcpyToArrayAsync")?)
    }

    #[ptds]
    fn cudaMemcpyFromArray(to: u64, from: Handle, x: usize, y: usize, count: usize, kind: u32) {
        submit_and_wait(&bytes_from_array(to, from, [x, y], count, sides(kind)?, "cudaMemcpyFromArray")?)
    }

    #[ptsz]
    fn cudaMemcpyFromArrayAsync(to: u64, from: Handle, x: usize, y: usize, count: usize, kind: u32, stream: Handle) {
        submit(stream, bytes_from_array(to, from, [x, y], count, sides(kind)?, "cudaMemcpyFromArrayAsync")?)
    }

    #[ptds]
    fn cudaMemcpyArrayToArray(
        to: Handle,
        to_x: usize,
        to_y: usize,
        from: Handle,
        x: usize,
        y: usize,
        count: usize,
        _kind: u32,
    ) {
        let (call, from) = ("cudaMemcpyArrayToArray", array(from)?);
        let from = from.bytes(from.offset([x, y]), count, call)?;
        submit_and_wait(&bytes_to_array(to, [to_x, to_y], from.start, count, Sides::Both, call)?)
    }
}
