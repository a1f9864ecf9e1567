//! How the host describes an image that a copy reads as columns.

use std::fmt;

use ptx_intrinsics::on_cpu::tensor::Columns;

use crate::TensorMap;
use crate::tiled::{Fill, Format, Interleave, Promotion, Swizzle, TensorElement, TensorMapError, Tiled};

/// A tensor of `D` dimensions that is read as columns of an image, before it is a [`TensorMap`]. [`TensorMap::im2col`] makes it.
#[derive(Clone, Debug)]
pub struct Im2col<const D: usize> {
    tensor: Tiled<D>,
    lower: Vec<i32>,
    upper: Vec<i32>,
    channels: u32,
    pixels: u32,
}

impl TensorMap {
    /// Images at an address in global memory, of which a copy moves columns of `pixels` pixels with `channels` channels each. The first
    /// dimension is the channels, the last one the image, and between them are one to three dimensions of pixels: `[C, W, H, N]`.
    ///
    /// A column goes along `W` to the end of the box of pixels, and then on at its beginning, one further in the next dimension.
    ///
    /// ```
    /// use ptx_kernel::{Swizzle, TensorMap};
    ///
    /// // Two images of 28 × 28 pixels, for a filter of 3 × 3 pixels: the box begins one pixel before the image.
    /// let images = vec![0u16; 64 * 28 * 28 * 2];
    /// let map = TensorMap::im2col(images.as_ptr(), [64, 28, 28, 2], 64, 128).corners(&[-1, -1], &[-1, -1]).swizzle(Swizzle::Bytes128);
    /// assert!(map.encode().is_ok());
    /// let error = map.corners(&[-1, -1], &[-1, -29]).encode().unwrap_err();
    /// assert_eq!(error.to_string(), "no tensor map can be made: the box of pixels has 0 in globalDim[2]: 1 or more are possible");
    /// ```
    ///
    /// Other numbers of dimensions than three to five do not compile.
    pub fn im2col<T: TensorElement, const D: usize>(
        tensor: *const T,
        sizes: [u64; D],
        channels: u32,
        pixels: u32,
    ) -> Im2col<D> {
        const { assert!(D >= 3 && D <= 5, "columns are of three to five dimensions") };
        let corner = vec![0; D - 2];
        Im2col {
            tensor: TensorMap::tiled(tensor, sizes, [0; D]),
            lower: corner.clone(),
            upper: corner,
            channels,
            pixels,
        }
    }
}

/// What says of columns the same as of a box.
macro_rules! same {
    ($($(#[$doc:meta])* $name:ident($argument:ident: $of:ty);)*) => { $(
        $(#[$doc])*
        #[must_use]
        pub fn $name(self, $argument: $of) -> Self {
            Self { tensor: self.tensor.$name($argument), ..self }
        }
    )* };
}

impl<const D: usize> Im2col<D> {
    /// Where the box of pixels begins, from the first pixel, and where it ends, from the last one, in each dimension of pixels:
    /// `pixelBoxLowerCorner` and `pixelBoxUpperCorner`, of which there are `D - 2`. Both are 0 otherwise.
    #[must_use]
    pub fn corners(self, lower: &[i32], upper: &[i32]) -> Self {
        Im2col { lower: lower.to_vec(), upper: upper.to_vec(), ..self }
    }

    same! {
        /// As [`Tiled::strides`].
        strides(bytes: &[u64]);
        /// The step from one copied pixel to the next: `elementStrides`. It does not change the number of pixels of a column.
        steps(steps: [u32; D]);
        /// As [`Tiled::format`].
        format(format: Format);
        /// As [`Tiled::swizzle`], where a row is the channels of a pixel.
        swizzle(swizzle: Swizzle);
        /// As [`Tiled::interleave`].
        interleave(interleave: Interleave);
        /// As [`Tiled::fill`].
        fill(fill: Fill);
        /// As [`Tiled::promotion`].
        promotion(promotion: Promotion);
    }

    /// The map for a CPU, and for the interpreter of `ptx-interpreter`. A GPU does not understand it: NVIDIA does not publish what its
    /// driver makes. How a copy by it goes through the image is as the ISA describes it, and has been compared with no GPU yet.
    ///
    /// # Errors
    /// [`TensorMapError::Rule`], if a rule of the driver does not hold.
    pub fn encode(&self) -> Result<TensorMap, TensorMapError> {
        self.described()?.encode()
    }

    /// The map for a GPU, by its driver: `encode_by(ptx_driver::tensor_map_im2col)`. It is given the arguments of
    /// `cuTensorMapEncodeIm2col`: `tensorDataType`, `globalAddress`, `globalDim`, `globalStrides`, the two corners, `channelsPerPixel` and
    /// `pixelsPerColumn`, `elementStrides`, and the numbers of `interleave`, `swizzle`, `l2Promotion` and `oobFill`.
    ///
    /// # Errors
    /// [`TensorMapError::Rule`], if a rule of the driver does not hold; it is not asked then. [`TensorMapError::Refused`], if it refuses.
    pub fn encode_by<E: fmt::Display>(
        &self,
        driver: impl FnOnce(u32, u64, &[u64], &[u64], [&[i32]; 2], [u32; 2], &[u32], [u32; 4]) -> Result<[u64; 16], E>,
    ) -> Result<TensorMap, TensorMapError> {
        let map = self.described()?.checked()?;
        let numbers = [map.interleave, self.tensor.swizzle as u32, map.promotion, map.fill];
        let (sizes, strides) = (&map.sizes[..D], &map.strides[..D - 1]);
        let counts = [self.channels, self.pixels];
        driver(map.element, map.address, sizes, strides, [&self.lower, &self.upper], counts, &map.steps[..D], numbers)
            .map(TensorMap::new)
            .map_err(|why| TensorMapError::Refused(why.to_string()))
    }

    /// The tensor with its columns.
    fn described(&self) -> Result<Tiled<D>, TensorMapError> {
        for (name, corner) in [("Lower", &self.lower), ("Upper", &self.upper)] {
            if corner.len() != D - 2 {
                let numbers = corner.len();
                let why = format!("pixelBox{name}Corner has {numbers} numbers: {D} dimensions need {}", D - 2);
                return Err(TensorMapError::Rule(why));
            }
        }
        let corner = |all: &[i32]| std::array::from_fn(|at| all.get(at).copied().unwrap_or_default());
        let mut tensor = self.tensor.clone();
        let (lower, upper) = (corner(&self.lower), corner(&self.upper));
        tensor.map.columns =
            Some(Columns { lower, upper, channels: self.channels, pixels: self.pixels, ..Columns::default() });
        Ok(tensor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_given_what_was_said() {
        let at = std::ptr::without_provenance::<u16>(4096);
        let map = TensorMap::im2col(at, [64, 28, 20, 2], 32, 100)
            .corners(&[-1, -2], &[-3, -4])
            .format(Format::F16)
            .steps([1, 2, 2, 1])
            .swizzle(Swizzle::Bytes64)
            .promotion(Promotion::Bytes128);
        let encoded = map.encode_by(|element, address, sizes, strides, corners, counts, steps, numbers| {
            assert_eq!((element, address, sizes), (6, 4096, &[64, 28, 20, 2][..]));
            assert_eq!((strides, corners), (&[128, 3584, 71680][..], [&[-1, -2][..], &[-3, -4][..]]));
            assert_eq!((counts, steps, numbers), ([32, 100], &[1, 2, 2, 1][..], [0, 2, 2, 0]));
            Ok::<_, &str>([7; 16])
        });
        assert!(encoded.is_ok());
        let refused = map.encode_by(|_, _, _, _, _, _, _, _| Err("no GPU"));
        assert_eq!(refused.unwrap_err().to_string(), "no tensor map was made: no GPU");
    }

    #[test]
    fn each_rule_is_named_with_its_number() {
        let at = std::ptr::without_provenance::<f32>(4096);
        let map = || TensorMap::im2col(at, [64, 28, 28, 2], 32, 64);
        let told =
            |map: Im2col<4>| map.encode().unwrap_err().to_string().split_once(": ").expect("a reason").1.to_owned();
        assert!(map().encode().is_ok());
        let why = "pixelBoxLowerCorner has 1 numbers: 4 dimensions need 2";
        assert_eq!(told(map().corners(&[0], &[0, 0])), why);
        let why = "pixelBoxUpperCorner[1] is 128: -128 to 127 are possible";
        assert_eq!(told(map().corners(&[0, 0], &[0, 128])), why);
        let why = "channelsPerPixel has 128 bytes: a swizzle of 64 bytes takes 64 at most";
        assert_eq!(told(map().swizzle(Swizzle::Bytes64)), why);
        let why = "pixelsPerColumn is 1025: 1 to 1024 are possible";
        assert_eq!(told(TensorMap::im2col(at, [64, 28, 28, 2], 32, 1025)), why);
    }
}
