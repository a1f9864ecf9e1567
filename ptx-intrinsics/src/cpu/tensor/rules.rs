//! Which tensor maps the driver makes. The rules were found in the answers of an H100's driver; its documentation lacks some.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use super::columns::{Along, Columns, Image, demand};
use super::map::TensorMap;

/// The first type of elements that is packed, and how many types there are.
const PACKED: u32 = 13;
const TYPES: u32 = 16;
/// The shared memory that a block can have. An H100's driver takes boxes of 192 KiB, and none of 256 KiB; between these none was tried.
const ROOM: u64 = 227 * 1024;

impl TensorMap {
    /// Whether the driver would take it, for any GPU: the first rule of `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col` or
    /// `cuTensorMapEncodeIm2colWide` that does not hold, with the argument's name.
    pub fn check(&self) -> Result<(), String> {
        let rank = self.rank as usize;
        demand(matches!(rank, 1..=5), || format!("tensorRank is {rank}: 1 to 5 are possible"))?;
        demand(self.element < TYPES, || format!("tensorDataType is {}: 0 to {} are known", self.element, TYPES - 1))?;
        demand(self.interleave <= 2, || format!("interleave is {}: 0 to 2 are known", self.interleave))?;
        demand(self.swizzle <= 3, || "swizzle is none of the driver's: 0 to 6 are known".to_owned())?;
        demand(self.promotion <= 3, || format!("l2Promotion is {}: 0 to 3 are known", self.promotion))?;
        demand(self.fill <= 1, || format!("oobFill is {}: 0 and 1 are known", self.fill))?;
        demand(self.interleave == 0 || rank >= 3, || format!("tensorRank is {rank}: an interleave needs 3 or more"))?;
        demand(self.columns.is_none() || rank >= 3, || format!("tensorRank is {rank}: columns need 3 or more"))?;
        self.check_places(rank)?;
        // The first one counts for nothing without an interleave, and is asked for all the same.
        for (at, step) in self.steps[..rank].iter().enumerate() {
            demand(matches!(step, 1..=8), || format!("elementStrides[{at}] is {step}: 1 to 8 are possible"))?;
        }
        match self.columns {
            Some(columns) => self.check_columns(rank, columns)?,
            None => self.check_box(rank)?,
        }
        self.check_inner()?;
        self.check_room(rank)
    }

    /// Whether the driver would take it for a GPU: 90 is sm_90.
    pub fn check_for(&self, sm: u32) -> Result<(), String> {
        self.check()?;
        let (element, swizzle) = (self.element, 3 + self.atom);
        let is_new = sm >= 100;
        demand(is_new || element < PACKED, || {
            format!("tensorDataType is {element}: packed elements need sm_100, and the GPU is sm_{sm}")
        })?;
        demand(is_new || self.atom == 0, || {
            format!("swizzle is {swizzle}: to move more than 16 bytes needs sm_100, and the GPU is sm_{sm}")
        })
    }

    fn check_places(&self, rank: usize) -> Result<(), String> {
        let align = if self.interleave == 2 || self.element > PACKED { 32 } else { 16 };
        let address = self.address;
        demand(address.is_multiple_of(align), || {
            format!("globalAddress is {address:#x}: it is no multiple of {align}")
        })?;
        // The documentation of CUDA 13.5 says 2^31, and that of CUDA 12 said 2^32.
        for (at, size) in self.sizes[..rank].iter().enumerate() {
            let fits = (1..=1 << 32).contains(size);
            demand(fits, || format!("globalDim[{at}] is {size}: 1 to 2^32 are possible"))?;
        }
        for (at, stride) in self.strides[..rank - 1].iter().enumerate() {
            let fits = stride.is_multiple_of(align) && *stride < 1 << 40;
            demand(fits, || format!("globalStrides[{at}] is {stride}: it must be a multiple of {align} below 2^40"))?;
        }
        Ok(())
    }

    fn check_box(&self, rank: usize) -> Result<(), String> {
        for (at, side) in self.tile[..rank].iter().enumerate() {
            demand(matches!(side, 1..=256), || format!("boxDim[{at}] is {side}: 1 to 256 are possible"))?;
        }
        Ok(())
    }

    fn check_columns(&self, rank: usize, columns: Columns) -> Result<(), String> {
        columns.check(&Image { rank, sizes: &self.sizes, is_interleaved: self.interleave != 0 })?;
        let told =
            || "swizzle must be 64 or 128 bytes, or 32 bytes within 128: columns along the width need it".to_owned();
        demand(columns.along == Along::Image || matches!((self.swizzle, self.atom), (2, 0) | (3, 0 | 1)), told)
    }

    fn check_inner(&self) -> Result<(), String> {
        let name = if self.columns.is_some() { "channelsPerPixel" } else { "boxDim[0]" };
        let is_float = matches!(self.element, 6..=12);
        demand(self.fill == 0 || is_float, || "oobFill is NaN: tensorDataType must be a float".to_owned())?;
        let Some((bytes, _)) = self.element() else { return Ok(()) };
        let inner = bytes * self.inner() as usize;
        // The documentation asks neither this of an interleaved tensor, nor that a swizzle of an interleave of 32 bytes has 32.
        demand(inner.is_multiple_of(16), || format!("{name} has {inner} bytes: they must be a multiple of 16"))?;
        let span = self.span();
        let told = || format!("{name} has {inner} bytes: a swizzle of {span} bytes takes {span} at most");
        demand(self.interleave != 0 || self.swizzle == 0 || inner <= span, told)
    }

    /// The documentation has no such rule.
    fn check_room(&self, rank: usize) -> Result<(), String> {
        let Some((bytes, _)) = self.element() else { return Ok(()) };
        let (name, elements) = match self.columns {
            Some(columns) => ("channelsPerPixel × pixelsPerColumn", u64::from(columns.channels * columns.count())),
            None => ("boxDim / elementStrides", self.steps_of_box(rank)),
        };
        let all = bytes as u64 * elements;
        demand(all <= ROOM, || format!("{name} has {all} bytes: {ROOM} are possible"))
    }

    /// The whole steps of the box in all dimensions. A copy moves the rest of a step too, and all of the first dimension: the driver
    /// does not count these.
    fn steps_of_box(&self, rank: usize) -> u64 {
        self.tile[..rank].iter().zip(&self.steps).map(|(side, step)| u64::from(side / step)).product()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{image, matrix};
    use super::*;

    fn told(map: TensorMap) -> String {
        map.check().unwrap_err()
    }

    #[test]
    fn the_rules_of_columns_are_named() {
        assert_eq!(image().check(), Ok(()));
        for (change, why) in [
            (
                &(|columns: &mut Columns| columns.channels = 257) as &dyn Fn(&mut Columns),
                "channelsPerPixel is 257: 1 to 256 are possible",
            ),
            (&|columns| columns.channels = 3, "channelsPerPixel has 12 bytes: they must be a multiple of 16"),
            (&|columns| columns.pixels = 1025, "pixelsPerColumn is 1025: 1 to 1024 are possible"),
            (
                &|columns| columns.pixels = 228,
                "channelsPerPixel × pixelsPerColumn has 233472 bytes: 232448 are possible",
            ),
            (&|columns| columns.lower[0] = 1 << 15, "pixelBoxLowerCorner[0] is 32768: -32768 to 32767 are possible"),
            (&|columns| columns.lower[0] = 10_000, "the box of pixels has 0 in globalDim[1]: 1 or more are possible"),
        ] {
            let mut columns = image().columns.unwrap_or_default();
            change(&mut columns);
            assert_eq!(told(TensorMap { columns: Some(columns), ..image() }), why);
        }
        let deep = TensorMap { rank: 5, sizes: [64, 64, 64, 64, 2], strides: [256; 4], ..image() };
        assert_eq!(told(deep), "pixelBoxUpperCorner[0] is -30000: -16 to 15 are possible");
        assert_eq!(told(TensorMap { rank: 2, ..image() }), "tensorRank is 2: columns need 3 or more");
        let mixed = TensorMap { interleave: 1, ..image() };
        assert_eq!(told(mixed), "the box of pixels has -29935 in globalDim[0]: 1 or more are possible");
        let wide = TensorMap { sizes: [64, 1 << 32, 7, 0, 0], ..image() };
        assert_eq!(told(wide), "the box of pixels has -29999 in globalDim[1]: 1 or more are possible");
    }

    #[test]
    fn what_the_driver_refuses_is_named() {
        assert_eq!(matrix().check(), Ok(()));
        let mut map = matrix();
        map.strides[0] = 40;
        assert_eq!(told(map), "globalStrides[0] is 40: it must be a multiple of 16 below 2^40");
        map = matrix();
        map.tile[1] = 257;
        assert_eq!(told(map), "boxDim[1] is 257: 1 to 256 are possible");
        map = matrix();
        map.tile[0] = 3;
        assert_eq!(told(map), "boxDim[0] has 12 bytes: they must be a multiple of 16");
        assert_eq!(told(matrix().swizzled(2)), "boxDim[0] has 128 bytes: a swizzle of 64 bytes takes 64 at most");
        assert_eq!(told(matrix().swizzled(7)), "swizzle is none of the driver's: 0 to 6 are known");
        assert_eq!(told(TensorMap { rank: 6, ..matrix() }), "tensorRank is 6: 1 to 5 are possible");
        assert_eq!(told(TensorMap { address: 8, ..matrix() }), "globalAddress is 0x8: it is no multiple of 16");
        assert_eq!(
            told(TensorMap { element: 2, fill: 1, ..matrix() }),
            "oobFill is NaN: tensorDataType must be a float"
        );
        assert_eq!(told(TensorMap { interleave: 1, ..matrix() }), "tensorRank is 2: an interleave needs 3 or more");
        map = matrix();
        map.sizes[1] = 0;
        assert_eq!(told(map), "globalDim[1] is 0: 1 to 2^32 are possible");
        map = matrix();
        map.steps[1] = 9;
        assert_eq!(told(map), "elementStrides[1] is 9: 1 to 8 are possible");
    }

    #[test]
    fn a_box_has_room_in_shared_memory() {
        let large = TensorMap { tile: [256, 256, 0, 0, 0], ..matrix() };
        assert_eq!(told(large), "boxDim / elementStrides has 262144 bytes: 232448 are possible");
        assert_eq!(TensorMap { steps: [2, 1, 0, 0, 0], ..large }.check(), Ok(()));
        assert_eq!(TensorMap { steps: [1, 2, 0, 0, 0], ..large }.check(), Ok(()));
    }

    #[test]
    fn some_maps_are_for_newer_gpus() {
        assert_eq!(matrix().swizzled(3).check_for(90), Ok(()));
        let moved = matrix().swizzled(6);
        let why = "swizzle is 6: to move more than 16 bytes needs sm_100, and the GPU is sm_90";
        assert_eq!((moved.check(), moved.check_for(100), moved.check_for(90)), (Ok(()), Ok(()), Err(why.into())));
        let packed = TensorMap { element: 13, ..matrix() };
        let why = "tensorDataType is 13: packed elements need sm_100, and the GPU is sm_90";
        assert_eq!((packed.check_for(100), packed.check_for(90)), (Ok(()), Err(why.into())));
    }
}
