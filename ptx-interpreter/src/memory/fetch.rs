//! What a fetch from a texture gives: the formulas of the CUDA programming guide's appendix "Texture Fetching".

use smallvec::{SmallVec, smallvec};

use crate::memory::texture::{Element, Number, Outer, Texture};

/// An element that counts, or the border, and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tap {
    /// None is the border.
    pub(crate) at: Option<[u32; 3]>,
    pub(crate) weight: f64,
}

pub(crate) type Taps = SmallVec<[Tap; 8]>;

/// The same along one dimension.
type Along = SmallVec<[(Option<u32>, f64); 2]>;

/// Coordinates of a fetch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinates {
    /// Numbers of elements.
    Whole([i32; 3]),
    Float([f32; 3]),
}

/// The fraction of a coordinate has so many parts: it is a number of nine bits, eight of them after the point.
const PARTS: f64 = 256.0;

/// The elements of a fetch. `dimensions` of the coordinates count, and a layer is the third one.
pub(crate) fn taps(texture: &Texture, coordinates: Coordinates, dimensions: usize, layer: u32) -> Taps {
    let size = texture.resource.size;
    let axis = |axis: usize| match coordinates {
        _ if axis >= dimensions => smallvec![(Some(if axis == 2 { layer.min(size[2] - 1) } else { 0 }), 1.0)],
        Coordinates::Whole(at) => one(inside(at[axis].into(), size[axis], texture.outer[axis].unnormalized())),
        Coordinates::Float(at) => along(texture, at[axis], axis),
    };
    product([axis(0), axis(1), axis(2)])
}

/// The four elements of a gather, in the order of its results.
pub(crate) fn gathered(texture: &Texture, at: [f32; 3], layer: u32) -> [Tap; 4] {
    let [x, y] = [0, 1].map(|axis| corners(texture, at[axis], axis));
    let layer = layer.min(texture.resource.size[2] - 1);
    [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(right, below)| {
        let place = x.1[right].zip(y.1[below]);
        Tap { at: place.map(|(x, y)| [x, y, layer]), weight: 1.0 }
    })
}

fn one(at: Option<u32>) -> Along {
    smallvec![(at, 1.0)]
}

fn product([x, y, z]: [Along; 3]) -> Taps {
    let mut all = Taps::new();
    for (z, of_z) in &z {
        for (y, of_y) in &y {
            for (x, of_x) in &x {
                let at = x.zip(*y).zip(*z).map(|((x, y), z)| [x, y, z]);
                all.push(Tap { at, weight: of_x * of_y * of_z });
            }
        }
    }
    all
}

fn along(texture: &Texture, coordinate: f32, axis: usize) -> Along {
    let (size, outer) = (texture.resource.size[axis], texture.outer(axis));
    if !texture.is_linear {
        let number = whole(texture, coordinate, axis).floor() as i64;
        // Just below 1 is rounded to 1.
        let number = if outer == Outer::Border { number } else { number.min(i64::from(size) - 1) };
        return one(inside(number, size, outer));
    }
    let (part, [low, high]) = corners(texture, coordinate, axis);
    // What does not count is not read.
    match part {
        0.0 => one(low),
        part => smallvec![(low, 1.0 - part), (high, part)],
    }
}

/// The two elements around a coordinate, and how much the second one counts.
fn corners(texture: &Texture, coordinate: f32, axis: usize) -> (f64, [Option<u32>; 2]) {
    let (size, outer) = (texture.resource.size[axis], texture.outer(axis));
    let fixed = ((f64::from(whole(texture, coordinate, axis)) - 0.5) * PARTS).round();
    let low = (fixed / PARTS).floor();
    let part = if fixed.is_finite() { fixed / PARTS - low } else { 0.0 };
    (part, [0, 1].map(|more| inside((low as i64).saturating_add(more), size, outer)))
}

/// The coordinate as one that counts elements. One that repeats is first brought between 0 and 1.
fn whole(texture: &Texture, coordinate: f32, axis: usize) -> f32 {
    if !texture.is_normalized {
        return coordinate;
    }
    let (exact, floor) = (f64::from(coordinate), f64::from(coordinate).floor());
    let within = match texture.outer[axis] {
        Outer::Wrap => exact - floor,
        Outer::Mirror if floor.rem_euclid(2.0) == 0.0 => exact - floor,
        Outer::Mirror => 1.0 - (exact - floor),
        Outer::Clamp | Outer::Border => exact,
    };
    within as f32 * texture.resource.size[axis] as f32
}

/// The element of a number that may be outside.
fn inside(number: i64, size: u32, outer: Outer) -> Option<u32> {
    let size = i64::from(size);
    let within = match outer {
        Outer::Clamp => number.clamp(0, size - 1),
        Outer::Border if !(0..size).contains(&number) => return None,
        Outer::Border => number,
        Outer::Wrap => number.rem_euclid(size),
        Outer::Mirror => {
            let at = number.rem_euclid(2 * size);
            at.min(2 * size - 1 - at)
        }
    };
    Some(within as u32)
}

impl Outer {
    /// Coordinates that count elements do not repeat.
    fn unnormalized(self) -> Outer {
        if self == Outer::Border { Outer::Border } else { Outer::Clamp }
    }
}

impl Texture {
    fn outer(&self, axis: usize) -> Outer {
        if self.is_normalized { self.outer[axis] } else { self.outer[axis].unnormalized() }
    }

    /// Whether a fetch gives floating-point numbers.
    pub(crate) fn gives_floats(&self) -> bool {
        let Element { number, bytes, .. } = self.resource.element;
        number == Number::Float || self.reads_floats && bytes < 4
    }

    /// The numbers of an element as a fetch gives them, in bits: those of floats, or of integers. Those that it has not are 0.
    pub(crate) fn numbers(&self, content: &[u8]) -> [u32; 4] {
        let element = self.resource.element;
        let mut all = [0; 4];
        for (channel, (to, from)) in all.iter_mut().zip(content.chunks_exact(element.bytes)).enumerate() {
            let mut bits = [0; 4];
            bits[..element.bytes].copy_from_slice(from);
            *to = self.number(u32::from_le_bytes(bits), channel);
        }
        all
    }

    fn number(&self, bits: u32, channel: usize) -> u32 {
        let Element { number, bytes, .. } = self.resource.element;
        let unused = 32 - 8 * bytes as u32;
        let signed = (bits << unused) as i32 >> unused;
        let most = |bits: u32| ((1u64 << bits) - 1) as f32;
        match number {
            Number::Float if bytes == 2 => half(bits).to_bits(),
            Number::Signed if self.gives_floats() => (signed as f32 / most(31 - unused)).max(-1.0).to_bits(),
            Number::Unsigned if self.gives_floats() => {
                let value = bits as f32 / most(32 - unused);
                if self.is_srgb && bytes == 1 && channel < 3 { linear(value) } else { value }.to_bits()
            }
            Number::Signed => signed as u32,
            Number::Float | Number::Unsigned => bits,
        }
    }

    /// What the elements of a fetch give together, in bits.
    pub(crate) fn weighed(&self, all: &[(f64, [u32; 4])]) -> [u32; 4] {
        if let [(_, only)] = all {
            return *only;
        }
        let sum = |channel: usize| -> f64 {
            all.iter().map(|(weight, numbers)| weight * f64::from(f32::from_bits(numbers[channel]))).sum()
        };
        [0, 1, 2, 3].map(|channel| (sum(channel) as f32).to_bits())
    }

    /// The colour of the border, in bits.
    pub(crate) fn border(&self) -> [u32; 4] {
        self.border.map(f32::to_bits)
    }
}

/// The value of a number of 16 bits.
fn half(bits: u32) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 31, (bits & 1023) as f32);
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent as i32 - 25),
    };
    if bits >> 15 & 1 == 1 { -size } else { size }
}

/// A linear colour of one in sRGB.
fn linear(colour: f32) -> f32 {
    if colour <= 0.04045 { colour / 12.92 } else { ((colour + 0.055) / 1.055).powf(2.4) }
}
