//! What a program has made of its memory for textures and surfaces: what their handles stand for.

use std::collections::HashMap;

/// The texture objects and surface objects of a program, by their handles.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Texture objects.
    pub textures: HashMap<u64, Texture>,
    /// Surface objects.
    pub surfaces: HashMap<u64, Resource>,
}

/// What dimensions a resource has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Linear memory, which is fetched by the number of an element.
    Linear,
    /// An array of one dimension.
    One,
    /// An array of two dimensions, or memory with a pitch.
    Two,
    /// An array of three dimensions.
    Three,
    /// Layers of one dimension.
    LayersOfOne,
    /// Layers of two dimensions.
    LayersOfTwo,
}

/// What numbers an element consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating-point numbers, of 16 or 32 bits.
    Float,
}

/// An element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// What its numbers are.
    pub number: Number,
    /// Bytes of a number: 1, 2 or 4.
    pub bytes: usize,
    /// How many numbers it has: 1, 2 or 4.
    pub channels: usize,
}

impl Element {
    /// Bytes of an element.
    pub fn size(&self) -> usize {
        self.bytes * self.channels
    }
}

/// Elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its first address.
    pub begin: u64,
    /// Which dimensions it has.
    pub shape: Shape,
    /// Elements of a row, rows, and planes or layers: 1 of what it has not.
    pub size: [u32; 3],
    /// Bytes from one row to the next.
    pub row: u64,
    /// Bytes from one plane or layer to the next.
    pub plane: u64,
    /// What an element is.
    pub element: Element,
}

impl Resource {
    /// Where an element is.
    pub(crate) fn address(&self, [x, y, z]: [u32; 3]) -> u64 {
        self.begin + u64::from(z) * self.plane + u64::from(y) * self.row + u64::from(x) * self.element.size() as u64
    }
}

/// What is fetched for a coordinate outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outer {
    /// The resource repeats.
    Wrap,
    /// The nearest element.
    Clamp,
    /// The resource repeats, each time the other way round.
    Mirror,
    /// The colour of the border.
    Border,
}

/// A texture object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// What it fetches from.
    pub resource: Resource,
    /// What is fetched outside, along each dimension.
    pub outer: [Outer; 3],
    /// Whether a fetch weighs the nearest elements, and does not only take the nearest one.
    pub is_linear: bool,
    /// Whether coordinates go from 0 to 1.
    pub is_normalized: bool,
    /// Whether integers become numbers from 0 to 1, or from -1 to 1.
    pub reads_floats: bool,
    /// Whether these are colours in sRGB, which become linear ones.
    pub is_srgb: bool,
    /// The colour of the border.
    pub border: [f32; 4],
}
