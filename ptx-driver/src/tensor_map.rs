//! Tensor maps, which the driver makes.

use std::ffi::c_void;

use crate::{Driver, NoDriver, load};

/// Why the driver made no tensor map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTensorMap {
    /// There is no driver.
    #[error(transparent)]
    NoDriver(#[from] NoDriver),
    /// The driver is older than tensor maps.
    #[error("the driver {path} has no {function}\n  → update it to that of CUDA 12 or newer")]
    Older {
        /// The function that it does not have.
        function: &'static str,
        /// The driver.
        path: String,
    },
    /// The numbers of dimensions do not agree.
    #[error(
        "{sizes} sizes, {strides} strides, {tile} sides of the box and {steps} steps: of D dimensions D, D - 1, D and D"
    )]
    Dimensions {
        /// Numbers of each.
        sizes: usize,
        /// Of the dimensions behind the first.
        strides: usize,
        /// Of each.
        tile: usize,
        /// Of each.
        steps: usize,
    },
    /// The numbers of dimensions of columns do not agree.
    #[error(
        "{sizes} sizes, {strides} strides, corners of {lower} and {upper} numbers and {steps} steps: of D dimensions D, D - 1, D - 2, D - 2 \
         and D"
    )]
    Columns {
        /// Numbers of each.
        sizes: usize,
        /// Of the dimensions behind the first.
        strides: usize,
        /// Of the dimensions with pixels.
        lower: usize,
        /// Of the dimensions with pixels.
        upper: usize,
        /// Of each.
        steps: usize,
    },
    /// The numbers of dimensions of columns along the width do not agree.
    #[error("{sizes} sizes, {strides} strides and {steps} steps: of D dimensions D, D - 1 and D")]
    Width {
        /// Numbers of each.
        sizes: usize,
        /// Of the dimensions behind the first.
        strides: usize,
        /// Of each.
        steps: usize,
    },
    /// The driver refused.
    #[error("{function} failed with {answer}: the driver {path} does not say why")]
    Refused {
        /// The function.
        function: &'static str,
        /// What it answered.
        answer: String,
        /// The driver.
        path: String,
    },
}

#[repr(C, align(64))]
struct Aligned([u64; 16]);

/// A tensor map of 128 bytes, by `cuTensorMapEncodeTiled`. `ptx_kernel::Tiled::encode_by` takes this function: it checks the driver's
/// rules before, so that an error names the rule.
///
/// The arguments are `tensorDataType`, `globalAddress`, `globalDim`, `globalStrides` in bytes, `boxDim`, `elementStrides`, and the numbers
/// of `interleave`, `swizzle`, `l2Promotion` and `oobFill`.
///
/// ```no_run
/// let map = ptx_driver::tensor_map_tiled(7, 0x7f00_0000_0000, &[64, 100], &[256], &[32, 8], &[1, 1], [0, 3, 2, 0])?;
/// # Ok::<(), ptx_driver::NoTensorMap>(())
/// ```
///
/// # Errors
/// There is no driver, it is older than CUDA 12, or it refuses.
pub fn tensor_map_tiled(
    element: u32,
    address: u64,
    sizes: &[u64],
    strides: &[u64],
    tile: &[u32],
    steps: &[u32],
    [interleave, swizzle, promotion, fill]: [u32; 4],
) -> Result<[u64; 16], NoTensorMap> {
    type Encode = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        u64,
        *const u64,
        *const u64,
        *const u32,
        *const u32,
        u32,
        u32,
        u32,
        u32,
    ) -> u32;
    let rank = sizes.len();
    if [strides.len() + 1, tile.len(), steps.len()] != [rank; 3] {
        let [strides, tile, steps] = [strides.len(), tile.len(), steps.len()];
        return Err(NoTensorMap::Dimensions { sizes: rank, strides, tile, steps });
    }
    made("cuTensorMapEncodeTiled", |driver, place| {
        // SAFETY: this is the type of cuTensorMapEncodeTiled; an address is one of 64 bits.
        let encode = unsafe { driver.symbol::<Encode>(c"cuTensorMapEncodeTiled") }?;
        let (sizes, strides, tile, steps) = (sizes.as_ptr(), strides.as_ptr(), tile.as_ptr(), steps.as_ptr());
        // SAFETY: the place has 128 bytes and is aligned to 64, and each list has a number for each dimension.
        Some(unsafe {
            encode(
                place,
                element,
                rank as u32,
                address,
                sizes,
                strides,
                tile,
                steps,
                interleave,
                swizzle,
                promotion,
                fill,
            )
        })
    })
}

/// A tensor map of 128 bytes, by `cuTensorMapEncodeIm2col`. `ptx_kernel::Im2col::encode_by` takes this function: it checks the driver's
/// rules before, so that an error names the rule.
///
/// The arguments are `tensorDataType`, `globalAddress`, `globalDim`, `globalStrides` in bytes, `pixelBoxLowerCorner` and
/// `pixelBoxUpperCorner`, `channelsPerPixel` and `pixelsPerColumn`, `elementStrides`, and the numbers of `interleave`, `swizzle`,
/// `l2Promotion` and `oobFill`.
///
/// ```no_run
/// let (sizes, strides) = ([64, 28, 2], [256, 7168]);
/// let map = ptx_driver::tensor_map_im2col(7, 0x7f00_0000_0000, &sizes, &strides, [&[-1], &[-1]], [32, 8], &[1; 3], [0, 3, 2, 0])?;
/// # Ok::<(), ptx_driver::NoTensorMap>(())
/// ```
///
/// # Errors
/// There is no driver, it is older than CUDA 12, or it refuses.
#[allow(clippy::too_many_arguments, reason = "those of the driver's function")]
pub fn tensor_map_im2col(
    element: u32,
    address: u64,
    sizes: &[u64],
    strides: &[u64],
    [lower, upper]: [&[i32]; 2],
    [channels, pixels]: [u32; 2],
    steps: &[u32],
    [interleave, swizzle, promotion, fill]: [u32; 4],
) -> Result<[u64; 16], NoTensorMap> {
    type Encode = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        u64,
        *const u64,
        *const u64,
        *const i32,
        *const i32,
        u32,
        u32,
        *const u32,
        u32,
        u32,
        u32,
        u32,
    ) -> u32;
    let rank = sizes.len();
    if [strides.len() + 1, lower.len() + 2, upper.len() + 2, steps.len()] != [rank; 4] {
        let [strides, lower, upper, steps] = [strides.len(), lower.len(), upper.len(), steps.len()];
        return Err(NoTensorMap::Columns { sizes: rank, strides, lower, upper, steps });
    }
    made("cuTensorMapEncodeIm2col", |driver, place| {
        // SAFETY: this is the type of cuTensorMapEncodeIm2col; an address is one of 64 bits.
        let encode = unsafe { driver.symbol::<Encode>(c"cuTensorMapEncodeIm2col") }?;
        let (sizes, strides, steps) = (sizes.as_ptr(), strides.as_ptr(), steps.as_ptr());
        let (lower, upper, rank) = (lower.as_ptr(), upper.as_ptr(), rank as u32);
        // SAFETY: the place has 128 bytes and is aligned to 64, and each list has a number for each dimension.
        Some(unsafe {
            encode(
                place, element, rank, address, sizes, strides, lower, upper, channels, pixels, steps, interleave,
                swizzle, promotion, fill,
            )
        })
    })
}

/// A tensor map of 128 bytes, by `cuTensorMapEncodeIm2colWide`. `ptx_kernel::Im2colWide::encode_by` takes this function: it checks the
/// driver's rules before, so that an error names the rule.
///
/// The arguments are `tensorDataType`, `globalAddress`, `globalDim`, `globalStrides` in bytes, `pixelBoxLowerCornerWidth` and
/// `pixelBoxUpperCornerWidth`, `channelsPerPixel` and `pixelsPerColumn`, `elementStrides`, and the numbers of `interleave`, `mode`,
/// `swizzle`, `l2Promotion` and `oobFill`.
///
/// ```no_run
/// let (sizes, strides) = ([64, 28, 2], [256, 7168]);
/// let map = ptx_driver::tensor_map_im2col_wide(7, 0x7f00_0000_0000, &sizes, &strides, [-1, -1], [32, 8], &[1; 3], [0, 0, 3, 2, 0])?;
/// # Ok::<(), ptx_driver::NoTensorMap>(())
/// ```
///
/// # Errors
/// There is no driver, it is older than CUDA 12.8, or it refuses.
#[allow(clippy::too_many_arguments, reason = "those of the driver's function")]
pub fn tensor_map_im2col_wide(
    element: u32,
    address: u64,
    sizes: &[u64],
    strides: &[u64],
    [lower, upper]: [i32; 2],
    [channels, pixels]: [u32; 2],
    steps: &[u32],
    [interleave, mode, swizzle, promotion, fill]: [u32; 5],
) -> Result<[u64; 16], NoTensorMap> {
    type Encode = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        u64,
        *const u64,
        *const u64,
        i32,
        i32,
        u32,
        u32,
        *const u32,
        u32,
        u32,
        u32,
        u32,
        u32,
    ) -> u32;
    let rank = sizes.len();
    if [strides.len() + 1, steps.len()] != [rank; 2] {
        let [strides, steps] = [strides.len(), steps.len()];
        return Err(NoTensorMap::Width { sizes: rank, strides, steps });
    }
    made("cuTensorMapEncodeIm2colWide", |driver, place| {
        // SAFETY: this is the type of cuTensorMapEncodeIm2colWide; an address is one of 64 bits.
        let encode = unsafe { driver.symbol::<Encode>(c"cuTensorMapEncodeIm2colWide") }?;
        let (sizes, strides, steps, rank) = (sizes.as_ptr(), strides.as_ptr(), steps.as_ptr(), rank as u32);
        // SAFETY: the place has 128 bytes and is aligned to 64, and each list has a number for each dimension.
        Some(unsafe {
            encode(
                place, element, rank, address, sizes, strides, lower, upper, channels, pixels, steps, interleave, mode,
                swizzle, promotion, fill,
            )
        })
    })
}

/// The map that a function of the driver makes: it gives the driver's answer, or none if there is no such function.
fn made(
    function: &'static str,
    encode: impl FnOnce(&Driver, *mut c_void) -> Option<u32>,
) -> Result<[u64; 16], NoTensorMap> {
    let driver = load()?;
    let path = || driver.path().to_owned();
    let mut map = Aligned([0; 16]);
    match encode(driver, (&raw mut map).cast()) {
        None => Err(NoTensorMap::Older { function, path: path() }),
        Some(0) => Ok(map.0),
        Some(code) => {
            let answer = format!("{} ({code})", driver.describe(code));
            Err(NoTensorMap::Refused { function, answer, path: path() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_dimensions_agree() {
        let error = tensor_map_tiled(7, 0, &[64, 100], &[256], &[32], &[1, 1], [0; 4]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "2 sizes, 1 strides, 1 sides of the box and 2 steps: of D dimensions D, D - 1, D and D"
        );
        let error =
            tensor_map_im2col(7, 0, &[64, 9, 2], &[256, 2304], [&[0], &[]], [4, 8], &[1; 3], [0; 4]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 sizes, 2 strides, corners of 1 and 0 numbers and 3 steps: of D dimensions D, D - 1, D - 2, D - 2 and D"
        );
        let error = tensor_map_im2col_wide(7, 0, &[64, 9, 2], &[256], [0, 0], [4, 8], &[1; 3], [0; 5]).unwrap_err();
        assert_eq!(error.to_string(), "3 sizes, 1 strides and 3 steps: of D dimensions D, D - 1 and D");
    }
}
