//! Tensor maps. NVIDIA does not publish the 128 bytes that its driver makes, so a map here has a layout of its own: what
//! [`TensorMap::encode`] writes, [`TensorMap::decode`] reads, and a GPU does not understand.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::columns::{Along, Columns, Image, demand};

/// Bytes of a tensor map.
pub const BYTES: usize = 128;
/// The last bytes of a map of this layout.
const MARK: [u8; 8] = *b"ptx-map1";

/// What a tensor map describes: a tensor in global memory, and the box of it that a copy moves.
///
/// The arrays have an entry for each dimension, the fastest one first; those past the rank are 0. Numbers are those of the driver's
/// enumerations, such as `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorMap {
    /// Dimensions.
    pub rank: u32,
    /// How it is read as columns of an image, if it is.
    pub columns: Option<Columns>,
    /// `CUtensorMapDataType`.
    pub element: u32,
    /// `CUtensorMapInterleave`.
    pub interleave: u32,
    /// `CUtensorMapSwizzle` up to 128 bytes: 0 to 3.
    pub swizzle: u32,
    /// What a swizzle of 128 bytes moves: 16 bytes, 32 bytes, 32 bytes with flipped halves, 64 bytes.
    pub atom: u32,
    /// `CUtensorMapL2promotion`.
    pub promotion: u32,
    /// `CUtensorMapFloatOOBfill`.
    pub fill: u32,
    /// Where the tensor begins.
    pub address: u64,
    /// Elements of each dimension.
    pub sizes: [u64; 5],
    /// Bytes from one element of a dimension to the next, from the second dimension on.
    pub strides: [u64; 4],
    /// Elements of the box.
    pub tile: [u32; 5],
    /// Every how many-th element of the box is moved.
    pub steps: [u32; 5],
}

/// The bytes of an element of each `CUtensorMapDataType`, and PTX's type. Packed elements have none.
const ELEMENTS: [(usize, &str); 13] = [
    (1, "u8"),
    (2, "u16"),
    (4, "u32"),
    (4, "s32"),
    (8, "u64"),
    (8, "s64"),
    (2, "f16"),
    (4, "f32"),
    (8, "f64"),
    (2, "bf16"),
    (4, "f32"),
    (4, "f32"),
    (4, "f32"),
];
/// The first that is packed, and how many there are.
const PACKED: u32 = 13;
const TYPES: u32 = 16;

impl TensorMap {
    /// The swizzle of a number of `CUtensorMapSwizzle`.
    #[must_use]
    pub fn swizzled(self, number: u32) -> TensorMap {
        let (swizzle, atom) = if number > 3 { (3 + u32::from(number > 6), number - 3) } else { (number, 0) };
        TensorMap { swizzle, atom, ..self }
    }

    /// The bytes of an element, and its type in PTX; none of a packed one.
    pub fn element(&self) -> Option<(usize, &'static str)> {
        ELEMENTS.get(self.element as usize).copied()
    }

    /// As what type a reduction by this operation changes the elements, `u32`; none if PTX has no such reduction.
    pub fn changed_as(&self, op: &str) -> Option<&'static str> {
        match (op, self.element()?) {
            // A sum of signed numbers has the bits of one of unsigned numbers.
            ("add", (8, "s64")) => Some("u64"),
            ("add", (_, ty)) if !matches!(ty, "u8" | "u16") => Some(ty),
            ("min" | "max", (_, ty @ ("u32" | "s32" | "u64" | "s64" | "f16" | "bf16"))) => Some(ty),
            ("inc" | "dec", (_, "u32")) => Some("u32"),
            ("and" | "or" | "xor", (4, "u32" | "s32")) => Some("b32"),
            ("and" | "or" | "xor", (8, "u64" | "s64")) => Some("b64"),
            _ => None,
        }
    }

    /// The 128 bytes.
    pub fn encode(&self) -> [u8; BYTES] {
        // CUTLASS clears bit 21 of the second word where a driver is not newer than that of CUDA 13.1. No number here has it.
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend(self.address.to_le_bytes());
        let small = [self.rank, self.along(), self.element, self.interleave, self.swizzle, self.atom];
        bytes.extend(small.into_iter().chain([self.promotion, self.fill]).map(|number| number as u8));
        bytes.extend(self.sizes.iter().flat_map(|size| (size.wrapping_sub(1) as u32).to_le_bytes()));
        bytes.extend(self.strides.iter().flat_map(|stride| stride.to_le_bytes()));
        bytes.extend(self.tile.iter().flat_map(|side| (*side as u16).to_le_bytes()));
        bytes.extend(self.steps.iter().map(|step| *step as u8));
        let Columns { lower, upper, channels, pixels, .. } = self.columns.unwrap_or_default();
        bytes.extend(lower.into_iter().chain(upper).flat_map(|corner| (corner as i16).to_le_bytes()));
        bytes.extend([channels, pixels].into_iter().flat_map(|count| (count as u16).to_le_bytes()));
        bytes.resize(BYTES - MARK.len(), 0);
        bytes.extend(MARK);
        bytes.try_into().unwrap_or([0; BYTES])
    }

    /// The byte that says where columns go; 0 of a box.
    fn along(&self) -> u32 {
        self.columns.map_or(0, |columns| 1 + columns.along as u32)
    }

    /// What 128 bytes describe; none if [`encode`](Self::encode) did not make them.
    pub fn decode(bytes: &[u8]) -> Option<TensorMap> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        if bytes[BYTES - MARK.len()..] != MARK {
            return None;
        }
        let number = |at: usize, length: usize| {
            bytes[at..at + length].iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let small = |at: usize| u32::from(bytes[at]);
        let rank = small(8);
        let mut map = TensorMap {
            rank,
            columns: along(bytes[9]).map(|along| Columns {
                lower: core::array::from_fn(|at| number(83 + 2 * at, 2) as i16 as i32),
                upper: core::array::from_fn(|at| number(89 + 2 * at, 2) as i16 as i32),
                channels: number(95, 2) as u32,
                pixels: number(97, 2) as u32,
                along,
            }),
            element: small(10),
            interleave: small(11),
            swizzle: small(12),
            atom: small(13),
            promotion: small(14),
            fill: small(15),
            address: number(0, 8),
            ..TensorMap::default()
        };
        for at in 0..5 {
            map.sizes[at] = (number(16 + 4 * at, 4) as u32).wrapping_add(1).into();
            map.tile[at] = number(68 + 2 * at, 2) as u32;
            map.steps[at] = small(78 + at);
        }
        for at in 0..4 {
            map.strides[at] = number(36 + 8 * at, 8);
        }
        Some(map)
    }

    /// Elements that are together in shared memory: of a row of the box, or of a pixel.
    pub fn inner(&self) -> u32 {
        self.columns.map_or(self.tile[0], |columns| columns.channels)
    }

    /// Whether the driver would take it: the first rule of `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col` or `cuTensorMapEncodeIm2colWide` that does not hold,
    /// with the argument's name.
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
        for (at, step) in self.steps[..rank].iter().enumerate() {
            demand(matches!(step, 1..=8), || format!("elementStrides[{at}] is {step}: 1 to 8 are possible"))?;
        }
        match self.columns {
            Some(columns) => self.check_columns(rank, columns)?,
            None => self.check_box(rank)?,
        }
        self.check_inner()
    }

    fn check_places(&self, rank: usize) -> Result<(), String> {
        let align = if self.interleave == 2 || self.element > PACKED { 32 } else { 16 };
        let address = self.address;
        demand(address.is_multiple_of(align), || {
            format!("globalAddress is {address:#x}: it is no multiple of {align}")
        })?;
        for (at, size) in self.sizes[..rank].iter().enumerate() {
            let fits = (1..=1 << 31).contains(size);
            demand(fits, || format!("globalDim[{at}] is {size}: 1 to 2^31 are possible"))?;
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
        if self.interleave == 0 {
            let told = || format!("{name} has {inner} bytes: they must be a multiple of 16");
            demand(inner.is_multiple_of(16), told)?;
        }
        let span = self.span();
        let told = || format!("{name} has {inner} bytes: a swizzle of {span} bytes takes {span} at most");
        demand(self.interleave != 0 || self.swizzle == 0 || inner <= span, told)?;
        let told = || "interleave is 32 bytes: swizzle must be 32 bytes too".to_owned();
        demand(self.interleave != 2 || self.swizzle == 1, told)
    }

    /// What stands in each two bytes outside of the tensor: zeros, or NaN as an H100 writes it.
    pub fn outside(&self) -> [u8; 2] {
        if self.fill == 0 { [0; 2] } else { 0x7ff7u16.to_le_bytes() }
    }

    /// Whether a load rounds the elements to tf32.
    pub fn is_tf32(&self) -> bool {
        matches!(self.element, 11 | 12)
    }

    /// The bytes that a swizzle permutes.
    pub fn span(&self) -> usize {
        16 << self.swizzle
    }

    /// Where a byte of shared memory is for a copy, if it is known how the map swizzles.
    pub fn place(&self, at: u64) -> Option<u64> {
        let (rows, shift) = match (self.swizzle, self.atom) {
            (0, _) => return Some(at),
            (1, 0) => (1, 4),
            (2, 0) => (3, 4),
            (3, 0) => (7, 4),
            (3, 1) => (3, 5),
            (3, 3) => (1, 6),
            _ => return None,
        };
        Some(at ^ (at >> 7 & rows) << shift)
    }
}

/// Where columns go, by the byte that says it.
fn along(byte: u8) -> Option<Along> {
    let all = [Along::Image, Along::Width, Along::Width128];
    all.get(usize::from(byte).checked_sub(1)?).copied()
}

/// What a load leaves of elements of tf32 in shared memory: the nearest numbers of ten bits, the even one of two, as an H100 does it.
pub fn round_to_tf32(elements: &mut [u8]) {
    for element in elements.chunks_exact_mut(4) {
        let bits = u32::from_le_bytes([element[0], element[1], element[2], element[3]]);
        let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
        let rounded = if is_nan { 0x7fff_e000 } else { (bits + 0xfff + (bits >> 13 & 1)) & !0x1fff };
        element.copy_from_slice(&rounded.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> TensorMap {
        TensorMap {
            rank: 2,
            element: 7,
            address: 0x7f00_0000_1000,
            sizes: [64, 32, 0, 0, 0],
            strides: [256, 0, 0, 0],
            tile: [32, 8, 0, 0, 0],
            steps: [1, 1, 0, 0, 0],
            ..TensorMap::default()
        }
    }

    /// Three dimensions, of which the second one has pixels.
    fn image() -> TensorMap {
        let columns =
            Columns { lower: [-1, 0, 0], upper: [-30_000, 0, 0], channels: 256, pixels: 1024, ..Columns::default() };
        let sizes = [64, 40_000, 7, 0, 0];
        TensorMap {
            rank: 3,
            sizes,
            strides: [256, 4096, 0, 0],
            steps: [1; 5],
            tile: [0; 5],
            columns: Some(columns),
            ..matrix()
        }
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
            (&|columns| columns.lower[0] = 1 << 15, "pixelBoxLowerCorner[0] is 32768: -32768 to 32767 are possible"),
            (&|columns| columns.lower[0] = 10_000, "the box of pixels has none in globalDim[1]"),
        ] {
            let mut columns = image().columns.unwrap_or_default();
            change(&mut columns);
            assert_eq!(TensorMap { columns: Some(columns), ..image() }.check(), Err(why.into()));
        }
        let deep = TensorMap { rank: 5, sizes: [64, 64, 64, 64, 2], strides: [256; 4], ..image() };
        let why = "pixelBoxUpperCorner[0] is -30000: -16 to 15 are possible";
        assert_eq!(deep.check(), Err(why.into()));
        let flat = TensorMap { rank: 2, ..image() };
        assert_eq!(flat.check(), Err("tensorRank is 2: columns need 3 or more".into()));
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let largest = TensorMap { sizes: [1 << 31, 1, 0, 0, 0], strides: [(1 << 40) - 16, 0, 0, 0], ..matrix() };
        for map in [matrix(), matrix().swizzled(6), largest, image()] {
            assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        }
        assert_eq!(TensorMap::decode(&[0; BYTES]), None);
        assert_eq!(TensorMap::decode(&matrix().encode()[1..]), None);
    }

    #[test]
    fn what_the_driver_refuses_is_named() {
        assert_eq!(matrix().check(), Ok(()));
        let told = |map: TensorMap| map.check().unwrap_err();
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
        assert_eq!(told(map), "globalDim[1] is 0: 1 to 2^31 are possible");
        map = matrix();
        map.steps[1] = 9;
        assert_eq!(told(map), "elementStrides[1] is 9: 1 to 8 are possible");
    }

    #[test]
    fn a_reduction_is_of_the_elements_type() {
        let of = |element, op| TensorMap { element, ..matrix() }.changed_as(op);
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|element| of(element, "add")),
            [
                None,
                None,
                Some("u32"),
                Some("s32"),
                Some("u64"),
                Some("u64"),
                Some("f16"),
                Some("f32"),
                Some("f64"),
                Some("bf16")
            ]
        );
        assert_eq!([2, 3, 4, 7].map(|element| of(element, "xor")), [Some("b32"), Some("b32"), Some("b64"), None]);
        assert_eq!([2, 3, 6, 7].map(|element| of(element, "min")), [Some("u32"), Some("s32"), Some("f16"), None]);
        assert_eq!([2, 3].map(|element| of(element, "inc")), [Some("u32"), None]);
        assert_eq!(of(13, "add"), None);
    }

    /// As an H100 does it.
    #[test]
    fn a_load_of_tf32_rounds() {
        for (bits, rounded) in [
            (0x3f80_1fffu32, 0x3f80_2000u32),
            (0x3f80_1000, 0x3f80_0000),
            (0x3f80_3000, 0x3f80_4000),
            (0x007f_ffff, 0x0080_0000),
            (0x8000_0001, 0x8000_0000),
            (0x7fc1_2345, 0x7fff_e000),
            (0x7f80_0001, 0x7fff_e000),
            (0x7f80_0000, 0x7f80_0000),
        ] {
            let mut element = bits.to_le_bytes();
            round_to_tf32(&mut element);
            assert_eq!(u32::from_le_bytes(element), rounded, "{bits:#x}");
        }
    }

    /// Of eight rows of 128 bytes: where the first 16 bytes of each row are.
    #[test]
    fn a_swizzle_permutes_the_chunks_of_a_row() {
        let first = |number: u32| {
            let map = matrix().swizzled(number);
            [0, 1, 2, 3, 4, 5, 6, 7].map(|row| map.place(128 * row).map(|at| at % 128))
        };
        let some = |places: [u64; 8]| places.map(Some);
        assert_eq!(first(0), some([0; 8]));
        assert_eq!(first(1), some([0, 16, 0, 16, 0, 16, 0, 16]));
        assert_eq!(first(2), some([0, 16, 32, 48, 0, 16, 32, 48]));
        assert_eq!(first(3), some([0, 16, 32, 48, 64, 80, 96, 112]));
        assert_eq!(first(4), some([0, 32, 64, 96, 0, 32, 64, 96]));
        assert_eq!(first(5), [None; 8]);
        assert_eq!(first(6), some([0, 64, 0, 64, 0, 64, 0, 64]));
    }
}
