//! How a tensor is read as columns of an image.

use alloc::format;
use alloc::string::String;

/// Where a column goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Along {
    /// Through a box of pixels: `cuTensorMapEncodeIm2col`.
    #[default]
    Image,
    /// Along the width, in the same row of each image: `cuTensorMapEncodeIm2colWide`, mode W.
    Width,
    /// The same of 128 pixels: mode W128.
    Width128,
}

/// How a tensor is read as columns of an image. The first dimension is the channels, the last one the image, and those between have a box
/// of pixels each. Of columns along the width only the second one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Where the box of pixels begins: from the first pixel of the image.
    pub lower: [i32; 3],
    /// Where it ends: from the last pixel.
    pub upper: [i32; 3],
    /// Elements of a pixel.
    pub channels: u32,
    /// Pixels of a column, where it has not always 128.
    pub pixels: u32,
    /// Where it goes.
    pub along: Along,
}

/// What the rules of columns ask of the tensor.
pub(super) struct Image<'m> {
    pub(super) rank: usize,
    pub(super) sizes: &'m [u64; 5],
    pub(super) is_interleaved: bool,
}

impl Columns {
    /// Pixels of a column.
    pub(super) fn count(&self) -> u32 {
        if self.along == Along::Width128 { 128 } else { self.pixels }
    }

    /// The first rule of the driver about columns that does not hold, with the argument's name.
    pub(super) fn check(&self, image: &Image<'_>) -> Result<(), String> {
        let Columns { lower, upper, channels, .. } = *self;
        let (rank, pixels) = (image.rank, self.count());
        demand(matches!(channels, 1..=256), || format!("channelsPerPixel is {channels}: 1 to 256 are possible"))?;
        demand(matches!(pixels, 1..=1024), || format!("pixelsPerColumn is {pixels}: 1 to 1024 are possible"))?;
        // All corners of a map have 16 bits together.
        let (reach, corners) = match (self.along, rank) {
            (Along::Image, 4) => (1 << 7, 2),
            (Along::Image, 5) => (1 << 4, 3),
            _ => (1 << 15, 1),
        };
        for at in 0..corners {
            for (name, corner) in [("Lower", lower[at]), ("Upper", upper[at])] {
                let argument = || match self.along {
                    Along::Image => format!("pixelBox{name}Corner[{at}]"),
                    _ => format!("pixelBox{name}CornerWidth"),
                };
                let told = || format!("{} is {corner}: {} to {} are possible", argument(), -reach, reach - 1);
                demand((-reach..reach).contains(&corner), told)?;
            }
            // An H100's driver counts in 32 bits, and of an interleaved tensor from the first dimension on.
            let dimension = if image.is_interleaved { at } else { 1 + at };
            let size = image.sizes[dimension] as i32;
            let pixels = size.wrapping_add(upper[at]).wrapping_sub(lower[at]);
            let told = || format!("the box of pixels has {pixels} in globalDim[{dimension}]: 1 or more are possible");
            demand(pixels > 0, told)?;
        }
        Ok(())
    }
}

pub(super) fn demand(holds: bool, told: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(told()) }
}
