//! Tensor maps, which the driver makes.

use std::ffi::c_void;

use crate::{NoDriver, load};

/// Why the driver made no tensor map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTensorMap {
    /// There is no driver.
    #[error(transparent)]
    NoDriver(#[from] NoDriver),
    /// The driver is older than tensor maps.
    #[error("the driver {path} has no cuTensorMapEncodeTiled\n  → update it to that of CUDA 12 or newer")]
    Older {
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
    /// The driver refused.
    #[error("cuTensorMapEncodeTiled failed with {answer}: the driver {path} does not say why")]
    Refused {
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
    let driver = load()?;
    let path = || driver.path().to_owned();
    // SAFETY: this is the type of cuTensorMapEncodeTiled; an address is one of 64 bits.
    let encode = unsafe { driver.symbol::<Encode>(c"cuTensorMapEncodeTiled") };
    let encode = encode.ok_or_else(|| NoTensorMap::Older { path: path() })?;
    let mut map = Aligned([0; 16]);
    let (place, sizes, strides) = ((&raw mut map).cast(), sizes.as_ptr(), strides.as_ptr());
    let (tile, steps) = (tile.as_ptr(), steps.as_ptr());
    // SAFETY: the place has 128 bytes and is aligned to 64, and there are as many numbers as dimensions.
    let answer = unsafe {
        encode(place, element, rank as u32, address, sizes, strides, tile, steps, interleave, swizzle, promotion, fill)
    };
    match answer {
        0 => Ok(map.0),
        code => Err(NoTensorMap::Refused { answer: format!("{} ({code})", driver.describe(code)), path: path() }),
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
    }
}
