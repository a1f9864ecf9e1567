//! Arrays: memory for textures and surfaces, which no pointer reaches.

use ptx_interpreter::{Element, Number, Resource, Shape};

use crate::output::wrong_call;
use crate::status::{INVALID_VALUE, Result};
use crate::work::Side;

/// `CUDA_ARRAY3D_LAYERED`, `…_SURFACE_LDST` and `…_TEXTURE_GATHER`
pub(crate) const LAYERED: u32 = 1;
pub(crate) const SURFACE: u32 = 2;
pub(crate) const GATHER: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub(crate) begin: u64,
    pub(crate) element: Element,
    /// Elements of a row, rows, and planes or layers, as the program said them: 0 of what it has not.
    pub(crate) size: [usize; 3],
    pub(crate) flags: u32,
}

impl Array {
    pub(crate) fn shape(size: [usize; 3], flags: u32) -> Shape {
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
        Ok(Side::of_bytes(self.begin + from as u64, true, count))
    }

    /// Bytes before a byte of a row.
    pub(crate) fn offset(&self, [x, y]: [usize; 2]) -> usize {
        y.saturating_mul(self.resource().row as usize).saturating_add(x)
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
