//! Texture objects and surface objects: what the program says of them.

use ptx_interpreter::{Element, Number, Outer, Resource, Texture};

use crate::handle::Handle;
use crate::output::note;
use crate::status::{INVALID_VALUE, NOT_SUPPORTED, Result};

/// `CU_RESOURCE_TYPE_…` and `cudaResourceType…`: their numbers are the same.
const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCH: u32 = 3;

/// What the descriptors of the driver and of the runtime say of a resource, but for its elements.
#[derive(Clone, Copy)]
pub(crate) struct Described {
    pub(crate) kind: u32,
    pub(crate) start: u64,
    pub(crate) sizes: [usize; 3],
}

/// Elements that a texture or a surface is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Array(Handle),
    Linear { begin: u64, element: Element, bytes: usize },
    Pitch { begin: u64, element: Element, width: usize, height: usize, pitch: usize },
}

impl Described {
    pub(crate) fn source(self, element: impl FnOnce() -> Result<Element>, call: &str) -> Result<Source> {
        let Described { kind, start: begin, sizes: [first, height, pitch] } = self;
        Ok(match kind {
            ARRAY => Source::Array(begin as Handle),
            LINEAR => Source::Linear { begin, element: element()?, bytes: first },
            PITCH => Source::Pitch { begin, element: element()?, width: first, height, pitch },
            MIPMAPPED => {
                note(&format!("{call}: arrays with several levels (mipmaps) are missing here"));
                return Err(NOT_SUPPORTED);
            }
            _ => return Err(INVALID_VALUE),
        })
    }
}

impl Source {
    /// The same as a description, and the element, which an array knows itself.
    pub(crate) fn described(self) -> (Described, Option<Element>) {
        match self {
            Source::Array(array) => (Described { kind: ARRAY, start: array as u64, sizes: [0; 3] }, None),
            Source::Linear { begin, element, bytes } => {
                (Described { kind: LINEAR, start: begin, sizes: [bytes, 0, 0] }, Some(element))
            }
            Source::Pitch { begin, element, width, height, pitch } => {
                (Described { kind: PITCH, start: begin, sizes: [width, height, pitch] }, Some(element))
            }
        }
    }
}

/// How a texture is fetched from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    /// `CUaddress_mode`, for each dimension.
    pub(crate) outer: [u32; 3],
    pub(crate) is_linear: bool,
    pub(crate) is_normalized: bool,
    pub(crate) reads_floats: bool,
    pub(crate) is_srgb: bool,
    pub(crate) border: [f32; 4],
}

/// A surface has no sampling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) source: Source,
    pub(crate) sampling: Option<Sampling>,
}

impl Sampling {
    pub(crate) fn texture(&self, resource: Resource) -> Texture {
        let outer = self.outer.map(|mode| match mode {
            0 => Outer::Wrap,
            2 => Outer::Mirror,
            3 => Outer::Border,
            _ => Outer::Clamp,
        });
        let Sampling { is_linear, is_normalized, reads_floats, is_srgb, border, .. } = *self;
        Texture { resource, outer, is_linear, is_normalized, reads_floats, is_srgb, border }
    }

    /// Whether elements cannot be weighed, because they are whole numbers.
    pub(crate) fn weighs_integers(&self, element: Element) -> bool {
        let gives_floats = element.number == Number::Float || self.reads_floats && element.bytes < 4;
        self.is_linear && !gives_floats
    }
}
