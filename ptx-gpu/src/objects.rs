//! The texture objects and surface objects of a program: they are made and destroyed, and kernels know them.

use ptx_interpreter::{Element, Objects, Resource, Shape};

use crate::array::SURFACE;
use crate::gpu::{Gpu, Handle};
use crate::handle;
use crate::output::note;
use crate::status::{INVALID_HANDLE, INVALID_VALUE, Result};
use crate::texture::{Object, Source};

/// `CU_DEVICE_ATTRIBUTE_…`: what an address is a multiple of, and a pitch.
const ALIGNMENT: u32 = 14;
const PITCH: u32 = 51;
/// Elements of linear memory, at most.
const LINEAR: u32 = 69;
/// Elements of a row and rows of memory with a pitch, and bytes of a row, at most.
const PITCHED: [u32; 3] = [70, 71, 72];

impl Gpu {
    /// A texture object, or a surface object.
    pub(crate) fn create_object(&mut self, object: Object, call: &str) -> Result<Handle> {
        match object.source {
            Source::Array(array) => {
                let flags = self.array(array)?.flags;
                if object.sampling.is_none() && flags & SURFACE == 0 {
                    note(&format!("{call}: the array is not made for surfaces (cudaArraySurfaceLoadStore)"));
                    return Err(INVALID_VALUE);
                }
            }
            _ if object.sampling.is_none() => return Err(INVALID_VALUE),
            Source::Linear { begin, element, bytes } => {
                self.is_texture_memory(begin, bytes, call)?;
                if bytes < element.size() || bytes / element.size() > self.device.size(LINEAR) {
                    return Err(INVALID_VALUE);
                }
            }
            Source::Pitch { begin, element, width, height, pitch } => {
                let row = width.checked_mul(element.size()).ok_or(INVALID_VALUE)?;
                let is_empty = width == 0 || height == 0;
                let most = PITCHED.map(|which| self.device.size(which));
                let is_large = width > most[0] || height > most[1] || pitch > most[2];
                if is_empty || is_large || pitch < row || !pitch.is_multiple_of(self.device.size(PITCH)) {
                    return Err(INVALID_VALUE);
                }
                self.is_texture_memory(begin, pitch * (height - 1) + row, call)?;
            }
        }
        let handle = handle::next();
        self.objects.insert(handle, object);
        Ok(handle)
    }

    fn is_texture_memory(&self, begin: u64, bytes: usize, call: &str) -> Result {
        if bytes == 0 || !begin.is_multiple_of(self.device.size(ALIGNMENT) as u64) {
            return Err(INVALID_VALUE);
        }
        self.memory.expect(begin, bytes, call)
    }

    /// A texture object, or a surface object.
    pub(crate) fn object(&self, handle: Handle, is_surface: bool) -> Result<&Object> {
        let is_one = |object: &&Object| object.sampling.is_none() == is_surface;
        self.objects.get(&handle).filter(is_one).ok_or(INVALID_HANDLE)
    }

    pub(crate) fn destroy_object(&mut self, handle: Handle, is_surface: bool) -> Result {
        self.object(handle, is_surface)?;
        self.objects.remove(&handle);
        Ok(())
    }

    /// The element of a source.
    pub(crate) fn element_of(&self, source: &Source) -> Result<Element> {
        match source {
            Source::Array(array) => Ok(self.array(*array)?.element),
            Source::Linear { element, .. } | Source::Pitch { element, .. } => Ok(*element),
        }
    }

    /// What a source has, if its memory is still there.
    fn resource(&self, source: &Source) -> Option<Resource> {
        match *source {
            Source::Array(array) => self.arrays.get(&array).map(|array| array.resource()),
            Source::Linear { begin, element, bytes } => {
                let size = [(bytes / element.size()) as u32, 1, 1];
                let (row, plane) = (bytes as u64, bytes as u64);
                let all = Resource { begin, shape: Shape::Linear, size, row, plane, element };
                self.memory.holds(begin, bytes).then_some(all)
            }
            Source::Pitch { begin, element, width, height, pitch } => {
                let (row, plane) = (pitch as u64, (pitch * height) as u64);
                let size = [width as u32, height as u32, 1];
                let bytes = pitch * (height - 1) + width * element.size();
                let all = Resource { begin, shape: Shape::Two, size, row, plane, element };
                self.memory.holds(begin, bytes).then_some(all)
            }
        }
    }

    /// What kernels know: the objects whose memory is still there.
    pub(crate) fn objects(&self) -> Objects {
        let mut objects = Objects::default();
        for (handle, object) in &self.objects {
            let Some(resource) = self.resource(&object.source) else { continue };
            match &object.sampling {
                Some(sampling) => {
                    objects.textures.insert(*handle as u64, sampling.texture(resource));
                }
                None => {
                    objects.surfaces.insert(*handle as u64, resource);
                }
            }
        }
        objects
    }
}
