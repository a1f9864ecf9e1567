//! Tensor maps. NVIDIA does not publish the 128 bytes that its driver makes, so a map here has a layout of its own: what
//! [`TensorMap::encode`] writes, [`TensorMap::decode`] reads, and a GPU does not understand.

use alloc::vec::Vec;

use super::columns::{Along, Columns};

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

impl TensorMap {
    /// The swizzle of a number of `CUtensorMapSwizzle`.
    #[must_use]
    pub fn swizzled(self, number: u32) -> TensorMap {
        let (swizzle, atom) = if number > 3 { (3 + u32::from(number > 6), number - 3) } else { (number, 0) };
        TensorMap { swizzle, atom, ..self }
    }

    /// The number of `CUtensorMapDataType` of a type in PTX.
    pub fn element_of(ty: &str) -> Option<u32> {
        ELEMENTS.iter().position(|(_, name)| *name == ty).map(|number| number as u32)
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
        bytes.extend(self.sizes.iter().flat_map(|size| (*size as u32).to_le_bytes()));
        bytes.extend(self.strides.iter().flat_map(|stride| stride.to_le_bytes()));
        bytes.extend(self.tile.iter().flat_map(|side| (*side as u16).to_le_bytes()));
        bytes.extend(self.steps.iter().map(|step| *step as u8));
        let Columns { lower, upper, channels, pixels, .. } = self.columns.unwrap_or_default();
        bytes.extend(lower.into_iter().chain(upper).flat_map(|corner| (corner as i16).to_le_bytes()));
        bytes.extend([channels, pixels].into_iter().flat_map(|count| (count as u16).to_le_bytes()));
        // A size has 33 bits.
        bytes.push(self.sizes.iter().rev().fold(0, |bits, size| bits << 1 | (size >> 32 & 1) as u8));
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
            map.sizes[at] = number(16 + 4 * at, 4) | (number(99, 1) >> at & 1) << 32;
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
    use super::super::samples::{image, matrix};
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let largest = TensorMap { sizes: [1 << 32, 1 << 31, 0, 0, 0], strides: [(1 << 40) - 16, 0, 0, 0], ..matrix() };
        for map in [matrix(), matrix().swizzled(6), largest, image()] {
            assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        }
        assert_eq!(TensorMap::decode(&[0; BYTES]), None);
        assert_eq!(TensorMap::decode(&matrix().encode()[1..]), None);
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
