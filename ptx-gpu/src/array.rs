//! Arrays: memory for textures and surfaces, which no pointer reaches.

use ptx_interpreter::{Element, Number, Resource, Shape};

use crate::gpu::{Gpu, Handle};
use crate::handle;
use crate::memory::Home;
use crate::output::{note, wrong_call};
use crate::status::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, Result};
use crate::work::Side;

/// `CUDA_ARRAY3D_LAYERED`, `…_SURFACE_LDST` and `…_TEXTURE_GATHER`
const LAYERED: u32 = 1;
pub(crate) const SURFACE: u32 = 2;
const GATHER: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    begin: u64,
    pub(crate) element: Element,
    /// Elements of a row, rows, and planes or layers, as the program said them: 0 of what it has not.
    pub(crate) size: [usize; 3],
    pub(crate) flags: u32,
}

impl Array {
    fn shape(size: [usize; 3], flags: u32) -> Shape {
        match (flags & LAYERED != 0, size) {
            (true, [_, 0, _]) => Shape::LayersOfOne,
            (true, _) => Shape::LayersOfTwo,
            (false, [_, 0, _]) => Shape::One,
            (false, [_, _, 0]) => Shape::Two,
            (false, _) => Shape::Three,
        }
    }

    pub(crate) fn resource(&self) -> Resource {
        let [width, height, depth] = self.size.map(|size| size.max(1));
        let row = (width * self.element.size()) as u64;
        Resource {
            begin: self.begin,
            shape: Array::shape(self.size, self.flags),
            size: [width, height, depth].map(|size| size as u32),
            row,
            plane: row * height as u64,
            element: self.element,
        }
    }

    /// The side of a copy of `size` bytes, rows and planes from a byte, a row and a plane on.
    pub(crate) fn side(&self, from: [usize; 3], size: [usize; 3], call: &str) -> Result<Side> {
        let all = self.resource();
        let sizes = [all.row, all.size[1].into(), all.size[2].into()];
        let ends = |axis: usize| from[axis].checked_add(size[axis]).is_some_and(|end| end as u64 <= sizes[axis]);
        if !(0..3).all(ends) {
            let [bytes, rows, planes] = sizes;
            return outside(
                call,
                format!("{size:?} from {from:?} on, of {bytes} bytes, {rows} rows and {planes} planes"),
            );
        }
        let [x, y, z] = from.map(|number| number as u64);
        let start = self.begin + z * all.plane + y * all.row + x;
        Ok(Side { start, is_device: true, row: all.row as usize, plane: all.plane as usize })
    }

    /// The side of a copy of bytes, which go on from row to row.
    pub(crate) fn bytes(&self, from: usize, count: usize, call: &str) -> Result<Side> {
        let all = self.resource().plane;
        if from.checked_add(count).is_none_or(|end| end as u64 > all) {
            return outside(call, format!("{count} bytes from byte {from} on, of {all}"));
        }
        Ok(Side { start: self.begin + from as u64, is_device: true, row: count, plane: count })
    }

    /// Bytes of a row.
    pub(crate) fn row(&self) -> usize {
        self.resource().row as usize
    }
}

fn outside<T>(call: &str, what: String) -> Result<T> {
    let title = format!("{call} goes beyond its array: {what}");
    wrong_call(call, title, "stay within the array: offsets and widths are in bytes, but of cudaMemcpy3D in elements");
    Err(INVALID_VALUE)
}

/// Whether there are elements of such numbers: of 1, 2 or 4.
pub(crate) fn element(number: Number, bytes: usize, channels: usize) -> Option<Element> {
    let is_known = match number {
        Number::Float => matches!(bytes, 2 | 4),
        Number::Signed | Number::Unsigned => matches!(bytes, 1 | 2 | 4),
    };
    (is_known && matches!(channels, 1 | 2 | 4)).then_some(Element { number, bytes, channels })
}

impl Gpu {
    pub(crate) fn create_array(
        &mut self,
        element: Element,
        size: [usize; 3],
        flags: u32,
        call: &str,
    ) -> Result<Handle> {
        if flags & !(LAYERED | SURFACE | GATHER) != 0 {
            note(&format!(
                "{call}: of arrays, only layers, surfaces and gathers are there, and not the flags {flags:#x}"
            ));
            return Err(NOT_SUPPORTED);
        }
        let shape = Array::shape(size, flags);
        if !self.has_room(shape, size) {
            return Err(INVALID_VALUE);
        }
        let bytes = size.iter().map(|size| (*size).max(1)).try_fold(element.size(), usize::checked_mul);
        let bytes = bytes.ok_or(INVALID_VALUE)?;
        if self.memory.used.saturating_add(bytes) > self.device.memory {
            return Err(OUT_OF_MEMORY);
        }
        let begin = self.memory.allocate(bytes, Home::Array, call)?;
        let handle = handle::next();
        self.arrays.insert(handle, Array { begin, element, size, flags });
        Ok(handle)
    }

    /// Whether a GPU has arrays of these sizes.
    fn has_room(&self, shape: Shape, [width, height, depth]: [usize; 3]) -> bool {
        let limits: &[u32] = match shape {
            Shape::Linear | Shape::One => &[21],
            Shape::Two => &[22, 23],
            Shape::Three => &[24, 25, 26],
            Shape::LayersOfOne => &[42, 43],
            Shape::LayersOfTwo => &[27, 28, 29],
        };
        let sizes = if shape == Shape::LayersOfOne { vec![width, depth] } else { vec![width, height, depth] };
        let is_empty = sizes[..limits.len()].contains(&0) || shape == Shape::One && depth > 0;
        let fits = |(which, size): (&u32, &usize)| {
            self.device.attribute(*which).and_then(|most| usize::try_from(most).ok()).is_some_and(|most| *size <= most)
        };
        !is_empty && limits.iter().zip(&sizes).all(fits)
    }

    pub(crate) fn array(&self, handle: Handle) -> Result<&Array> {
        self.arrays.get(&handle).ok_or(INVALID_HANDLE)
    }

    /// Frees an array. GPUs wait for everything first.
    pub(crate) fn destroy_array(&mut self, handle: Handle, call: &str) -> Result {
        if handle == 0 {
            return Err(INVALID_VALUE);
        }
        let Some(array) = self.arrays.remove(&handle) else {
            let title = format!("{call} frees {handle:#x}, which is no array");
            wrong_call(call, title, "free what the call that made the array gave, once");
            return Err(INVALID_HANDLE);
        };
        self.memory.free(array.begin, &[Home::Array], call)?;
        self.order.waits_to_free(array.begin);
        Ok(())
    }
}
