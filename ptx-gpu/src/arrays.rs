//! The arrays of a program: they are made and freed.

use ptx_interpreter::{Element, Shape};

use crate::array::{Array, GATHER, LAYERED, SURFACE};
use crate::gpu::{Gpu, Handle};
use crate::handle;
use crate::memory::Home;
use crate::output::{note, wrong_call};
use crate::status::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, Result};

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
        let here = self.here();
        if bytes > self.free_memory(here) {
            return Err(OUT_OF_MEMORY);
        }
        let begin = self.memory.allocate(bytes, Home::Array, here, call)?;
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
        !is_empty && limits.iter().zip(&sizes).all(|(which, size)| *size <= self.device.size(*which))
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
        self.waits_to_free(array.begin);
        self.memory.free(array.begin, &[Home::Array], call)
    }
}
