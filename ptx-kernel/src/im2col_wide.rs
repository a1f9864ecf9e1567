//! How the host describes an image that a copy reads as columns along its width.

use std::fmt;

use ptx_intrinsics::on_cpu::tensor::{Along, Columns};

use crate::TensorMap;
use crate::tiled::{Fill, Format, Interleave, Promotion, Swizzle, TensorElement, TensorMapError, Tiled};

/// A tensor of `D` dimensions that is read as columns along the width of an image, before it is a [`TensorMap`].
/// [`TensorMap::im2col_w`] and [`TensorMap::im2col_w_128`] make it.
#[derive(Clone, Debug)]
pub struct Im2colWide<const D: usize> {
    tensor: Tiled<D>,
    columns: Columns,
}

impl TensorMap {
    /// Images at an address in global memory, of which a copy moves columns of `pixels` pixels with `channels` channels each, along the
    /// width alone: `cp_async_bulk_tensor_shared_global_im2col_w`. The first dimension is the channels, the second one the width, the last
    /// one the image: `[C, W, H, N]`.
    ///
    /// A column goes along `W` to the end of the row, and then on at the beginning of the same row of the next image. Behind it is a
    /// halo: as many pixels more as the copy says. The swizzle is [`Swizzle::Bytes128`], if nothing else is said; there has to be one.
    ///
    /// ```
    /// use ptx_kernel::{Swizzle, TensorMap};
    ///
    /// // Two images of 28 × 28 pixels, for a filter that is three pixels wide: each row begins one pixel before the image.
    /// let images = vec![0u16; 64 * 28 * 28 * 2];
    /// let map = TensorMap::im2col_w(images.as_ptr(), [64, 28, 28, 2], 64, 128).corners(-1, 0);
    /// assert!(map.encode().is_ok());
    /// let error = map.corners(0, -28).encode().unwrap_err();
    /// assert_eq!(error.to_string(), "no tensor map can be made: the box of pixels has 0 in globalDim[1]: 1 or more are possible");
    /// ```
    ///
    /// Other numbers of dimensions than three to five do not compile.
    pub fn im2col_w<T: TensorElement, const D: usize>(
        tensor: *const T,
        sizes: [u64; D],
        channels: u32,
        pixels: u32,
    ) -> Im2colWide<D> {
        Im2colWide::new(tensor, sizes, Columns { channels, pixels, along: Along::Width, ..Columns::default() })
    }

    /// The same of 128 pixels with a halo after each 32: `cp_async_bulk_tensor_shared_global_im2col_w_128`.
    pub fn im2col_w_128<T: TensorElement, const D: usize>(
        tensor: *const T,
        sizes: [u64; D],
        channels: u32,
    ) -> Im2colWide<D> {
        let along = Along::Width128;
        Im2colWide::new(tensor, sizes, Columns { channels, pixels: 128, along, ..Columns::default() })
    }
}

impl<const D: usize> Im2colWide<D> {
    fn new<T: TensorElement>(tensor: *const T, sizes: [u64; D], columns: Columns) -> Self {
        const { assert!(D >= 3 && D <= 5, "columns are of three to five dimensions") };
        Im2colWide { tensor: TensorMap::tiled(tensor, sizes, [0; D]).swizzle(Swizzle::Bytes128), columns }
    }

    /// Where a row begins, from the first pixel, and where it ends, from the last one: `pixelBoxLowerCornerWidth` and
    /// `pixelBoxUpperCornerWidth`. Both are 0 otherwise.
    #[must_use]
    pub fn corners(self, lower: i32, upper: i32) -> Self {
        let columns = Columns { lower: [lower, 0, 0], upper: [upper, 0, 0], ..self.columns };
        Im2colWide { columns, ..self }
    }

    same! {
        /// As [`Tiled::strides`].
        strides(bytes: &[u64]);
        /// The step from one copied pixel to the next: `elementStrides`, of which that of the width counts. It does not change the number
        /// of pixels of a column.
        steps(steps: [u32; D]);
        /// As [`Tiled::format`].
        format(format: Format);
        /// As [`Tiled::swizzle`], where a row is the channels of a pixel. It is of 64 bytes, of 128 bytes, or of 128 bytes by 32.
        swizzle(swizzle: Swizzle);
        /// As [`Tiled::interleave`].
        interleave(interleave: Interleave);
        /// As [`Tiled::fill`].
        fill(fill: Fill);
        /// As [`Tiled::promotion`].
        promotion(promotion: Promotion);
    }

    /// The map for a CPU, and for the interpreter of `ptx-interpreter`. A GPU does not understand it: NVIDIA does not publish what its
    /// driver makes. How a copy by it goes along the width is as the ISA describes it, and has been compared with no GPU yet. Where a
    /// halo passes the end of a row, the ISA does not say what is in it, and a CPU refuses the copy.
    ///
    /// # Errors
    /// [`TensorMapError::Rule`], if a rule of the driver does not hold.
    pub fn encode(&self) -> Result<TensorMap, TensorMapError> {
        self.described().encode()
    }

    /// The map for a GPU, by its driver: `encode_by(ptx_driver::tensor_map_im2col_wide)`. It is given the arguments of
    /// `cuTensorMapEncodeIm2colWide`: `tensorDataType`, `globalAddress`, `globalDim`, `globalStrides`, the two corners, `channelsPerPixel`
    /// and `pixelsPerColumn`, `elementStrides`, and the numbers of `interleave`, `mode`, `swizzle`, `l2Promotion` and `oobFill`.
    ///
    /// # Errors
    /// [`TensorMapError::Rule`], if a rule of the driver does not hold; it is not asked then. [`TensorMapError::Refused`], if it refuses.
    pub fn encode_by<E: fmt::Display>(
        &self,
        driver: impl FnOnce(u32, u64, &[u64], &[u64], [i32; 2], [u32; 2], &[u32], [u32; 5]) -> Result<[u64; 16], E>,
    ) -> Result<TensorMap, TensorMapError> {
        let map = self.described().checked()?;
        let Columns { lower, upper, channels, pixels, along } = self.columns;
        let mode = u32::from(along == Along::Width128);
        let numbers = [map.interleave, mode, self.tensor.swizzle as u32, map.promotion, map.fill];
        let (sizes, strides) = (&map.sizes[..D], &map.strides[..D - 1]);
        let (corners, counts) = ([lower[0], upper[0]], [channels, pixels]);
        driver(map.element, map.address, sizes, strides, corners, counts, &map.steps[..D], numbers)
            .map(TensorMap::new)
            .map_err(|why| TensorMapError::Refused(why.to_string()))
    }

    /// The tensor with its columns.
    fn described(&self) -> Tiled<D> {
        let mut tensor = self.tensor.clone();
        tensor.map.columns = Some(self.columns);
        tensor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_given_what_was_said() {
        let at = std::ptr::without_provenance::<u16>(4096);
        let of = |map: Im2colWide<4>, mode: u32, pixels: u32| {
            let map = map.corners(-1, -3).format(Format::F16).steps([1, 2, 1, 1]).promotion(Promotion::Bytes128);
            map.encode_by(|element, address, sizes, strides, corners, counts, steps, numbers| {
                assert_eq!((element, address, sizes), (6, 4096, &[64, 28, 20, 2][..]));
                assert_eq!((strides, corners, counts), (&[128, 3584, 71680][..], [-1, -3], [32, pixels]));
                assert_eq!((steps, numbers), (&[1, 2, 1, 1][..], [0, mode, 4, 2, 0]));
                Ok::<_, &str>([7; 16])
            })
        };
        let sizes = [64, 28, 20, 2];
        let swizzle = Swizzle::Bytes128By32;
        assert!(of(TensorMap::im2col_w(at, sizes, 32, 100).swizzle(swizzle), 0, 100).is_ok());
        assert!(of(TensorMap::im2col_w_128(at, sizes, 32).swizzle(swizzle), 1, 128).is_ok());
        let refused = TensorMap::im2col_w(at, sizes, 32, 100).encode_by(|_, _, _, _, _, _, _, _| Err("no GPU"));
        assert_eq!(refused.unwrap_err().to_string(), "no tensor map was made: no GPU");
    }

    #[test]
    fn each_rule_is_named_with_its_number() {
        let at = std::ptr::without_provenance::<f32>(4096);
        let map = || TensorMap::im2col_w(at, [64, 28, 28, 2], 32, 64);
        let told =
            |map: Im2colWide<4>| map.encode().unwrap_err().to_string().split_once(": ").expect("a reason").1.to_owned();
        assert!(map().encode().is_ok());
        // A corner has 16 bits, whatever the number of dimensions.
        assert!(map().corners(-32768, 0).encode().is_ok());
        assert_eq!(told(map().corners(-32769, 0)), "pixelBoxLowerCornerWidth is -32769: -32768 to 32767 are possible");
        let swizzle = "swizzle must be 64 or 128 bytes, or 32 bytes within 128: columns along the width need it";
        for wrong in [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes128By32Flipped, Swizzle::Bytes128By64] {
            assert_eq!(told(map().swizzle(wrong)), swizzle);
        }
        let why = "pixelsPerColumn is 1025: 1 to 1024 are possible";
        assert_eq!(told(TensorMap::im2col_w(at, [64, 28, 28, 2], 32, 1025)), why);
        let why = "channelsPerPixel has 256 bytes: a swizzle of 128 bytes takes 128 at most";
        assert_eq!(told(TensorMap::im2col_w_128(at, [64, 28, 28, 2], 64)), why);
    }
}
