//! Texture objects and surface objects: what the program says of them.

use ptx_interpreter::{Element, Number, Outer, Resource, Texture};

use crate::handle::Handle;

/// Elements that a texture or a surface is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Array(Handle),
    Linear { begin: u64, element: Element, bytes: usize },
    Pitch { begin: u64, element: Element, width: usize, height: usize, pitch: usize },
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
