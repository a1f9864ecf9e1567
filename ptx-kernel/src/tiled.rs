//! How the host describes a tensor.

use std::fmt;

use ptx_intrinsics::element::{B8, B16, B32, B64};
use ptx_intrinsics::on_cpu::tensor::TensorMap as Described;

use crate::TensorMap;

/// A type whose values a tensor can have: numbers of 8 to 64 bits.
#[diagnostic::on_unimplemented(
    message = "a tensor cannot have elements of type `{Self}`",
    label = "a tensor has numbers of 8 to 64 bits",
    note = "for 16-bit floats take `u16`, and say `.format(Format::Bf16)`"
)]
pub trait TensorElement {
    /// What it is without a [`Tiled::format`].
    const FORMAT: Format;
}

macro_rules! formats {
    ($($name:ident $number:literal $bytes:literal $doc:literal $($type:ident)*;)*) => {
        /// How the bits of an element are read: the driver's `CUtensorMapDataType`. Reductions and NaN outside of the tensor ask for it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $(#[doc = $doc] $name = $number),*
        }

        impl Format {
            fn bytes(self) -> usize {
                match self { $(Format::$name => $bytes),* }
            }
        }

        $($(
            #[diagnostic::do_not_recommend]
            impl TensorElement for $type {
                const FORMAT: Format = Format::$name;
            }
        )*)*
    };
}
formats! {
    U8 0 1 "`u8`." u8 i8 B8;
    U16 1 2 "`u16`." u16 i16 B16;
    U32 2 4 "`u32`." u32 B32;
    S32 3 4 "`i32`." i32;
    U64 4 8 "`u64`." u64 B64;
    S64 5 8 "`i64`." i64;
    F16 6 2 "A float of 16 bits.";
    F32 7 4 "`f32`." f32;
    F64 8 8 "`f64`." f64;
    Bf16 9 2 "The upper half of an `f32`.";
    F32Ftz 10 4 "`f32`, of which subnormal numbers are read as 0.";
    Tf32 11 4 "`f32` of which 19 bits count.";
    Tf32Ftz 12 4 "The same, and subnormal numbers are read as 0.";
}

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$says:meta])* $choice:ident = $number:literal),* $(,)? })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$says])* $choice = $number),* }
    )* };
}
choices! {
    /// How the 16 bytes of a row change places in shared memory, so that a column is in all banks: the driver's `CUtensorMapSwizzle`.
    /// A row of the box has at most this size, and the box is aligned to eight such rows.
    Swizzle {
        /// They do not.
        #[default]
        None = 0,
        /// Bit 4 of an address by bit 7.
        Bytes32 = 1,
        /// Bits 4 and 5 of an address by bits 7 and 8.
        Bytes64 = 2,
        /// Bits 4 to 6 of an address by bits 7 to 9: the 16 bytes of column `c` of row `r` are at column `c ^ r % 8`.
        Bytes128 = 3,
        /// The same by 32 bytes: bits 5 and 6 by bits 7 and 8.
        Bytes128By32 = 4,
        /// The same, and the halves of 16 bytes change places. A CPU does not know how.
        Bytes128By32Flipped = 5,
        /// The same by 64 bytes: bit 6 by bit 7.
        Bytes128By64 = 6,
    }
    /// How the channels of an image are in memory: the driver's `CUtensorMapInterleave`.
    Interleave {
        /// One after the other.
        #[default]
        None = 0,
        /// Sixteen bytes of each together. A CPU does not copy so.
        Bytes16 = 1,
        /// Thirty-two bytes of each together. A CPU does not copy so.
        Bytes32 = 2,
    }
    /// What is outside of the tensor: the driver's `CUtensorMapFloatOOBfill`.
    Fill {
        /// Zeros.
        #[default]
        Zeros = 0,
        /// NaN, of floats. A CPU does not know which.
        Nan = 1,
    }
    /// How much is brought into L2 at least: the driver's `CUtensorMapL2promotion`.
    Promotion {
        /// What is asked for.
        #[default]
        None = 0,
        /// 64 bytes.
        Bytes64 = 1,
        /// 128 bytes.
        Bytes128 = 2,
        /// 256 bytes.
        Bytes256 = 3,
    }
}

/// Why there is no tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorMapError {
    /// A rule of the driver does not hold: which, and the number that breaks it, by the names of `cuTensorMapEncodeTiled`.
    Rule(String),
    /// What [`Tiled::encode_by`] was given has refused it, and why.
    Refused(String),
}

impl fmt::Display for TensorMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TensorMapError::Rule(why) => write!(f, "no tensor map can be made: {why}"),
            TensorMapError::Refused(why) => write!(f, "no tensor map was made: {why}"),
        }
    }
}

impl std::error::Error for TensorMapError {}

/// A tensor of `D` dimensions and a box of it, before they are a [`TensorMap`]. [`TensorMap::tiled`] makes it.
#[derive(Clone, Debug)]
pub struct Tiled<const D: usize> {
    pub(crate) map: Described,
    strides: Vec<u64>,
    element: usize,
    format: Format,
    pub(crate) swizzle: Swizzle,
}

impl TensorMap {
    /// A tensor at an address in global memory, whose elements are one after the other, and the box that a copy moves. The fastest
    /// dimension is first: of a matrix `[columns, rows]`.
    ///
    /// ```
    /// use ptx_kernel::{Promotion, Swizzle, TensorMap};
    ///
    /// let matrix = vec![0.0f32; 100 * 64];
    /// let map = TensorMap::tiled(matrix.as_ptr(), [64, 100], [32, 8]).swizzle(Swizzle::Bytes128).promotion(Promotion::Bytes128);
    /// assert!(map.encode().is_ok());
    /// let error = TensorMap::tiled(matrix.as_ptr(), [64, 100], [3, 8]).encode().unwrap_err();
    /// assert_eq!(error.to_string(), "no tensor map can be made: boxDim[0] has 12 bytes: they must be a multiple of 16");
    /// ```
    ///
    /// More than five dimensions do not compile.
    pub fn tiled<T: TensorElement, const D: usize>(tensor: *const T, sizes: [u64; D], tile: [u32; D]) -> Tiled<D> {
        const { assert!(D >= 1 && D <= 5, "a tensor has one to five dimensions") };
        let element = size_of::<T>();
        let strides = sizes[..D - 1].iter().scan(element as u64, |stride, size| {
            *stride = stride.wrapping_mul(*size);
            Some(*stride)
        });
        let map = Described {
            rank: D as u32,
            address: tensor.expose_provenance() as u64,
            sizes: first(&sizes),
            tile: first(&tile),
            steps: first(&[1; D]),
            ..Described::default()
        };
        Tiled { map, strides: strides.collect(), element, format: T::FORMAT, swizzle: Swizzle::None }
    }
}

/// A number for each place of a description.
fn first<N: Copy + Default, const PLACES: usize>(all: &[N]) -> [N; PLACES] {
    std::array::from_fn(|at| all.get(at).copied().unwrap_or_default())
}

impl<const D: usize> Tiled<D> {
    /// Bytes from one element to the next in each dimension behind the first one: `globalStrides`, of which there are `D - 1`.
    #[must_use]
    pub fn strides(self, bytes: &[u64]) -> Self {
        Tiled { strides: bytes.to_vec(), ..self }
    }

    /// Every how many-th element of the box is moved: `elementStrides`.
    #[must_use]
    pub fn steps(mut self, steps: [u32; D]) -> Self {
        self.map.steps = first(&steps);
        self
    }

    /// How the bits of the elements are read, where the Rust type does not say it.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Tiled { format, ..self }
    }

    /// How rows are permuted in shared memory.
    #[must_use]
    pub fn swizzle(self, swizzle: Swizzle) -> Self {
        Tiled { swizzle, ..self }
    }

    /// How channels are in memory.
    #[must_use]
    pub fn interleave(mut self, interleave: Interleave) -> Self {
        self.map.interleave = interleave as u32;
        self
    }

    /// What is outside of the tensor.
    #[must_use]
    pub fn fill(mut self, fill: Fill) -> Self {
        self.map.fill = fill as u32;
        self
    }

    /// How much is brought into L2.
    #[must_use]
    pub fn promotion(mut self, promotion: Promotion) -> Self {
        self.map.promotion = promotion as u32;
        self
    }

    /// The map for a CPU, and for the interpreter of `ptx-interpreter`. A GPU does not understand it: NVIDIA does not publish what its
    /// driver makes.
    ///
    /// # Errors
    /// [`TensorMapError::Rule`], if a rule of the driver does not hold.
    pub fn encode(&self) -> Result<TensorMap, TensorMapError> {
        let bytes = self.checked()?.encode();
        let (words, _) = bytes.as_chunks::<8>();
        Ok(TensorMap::new(std::array::from_fn(|at| u64::from_ne_bytes(words[at]))))
    }

    /// The map for a GPU, by its driver: `encode_by(ptx_driver::tensor_map_tiled)`. It is given the arguments of
    /// `cuTensorMapEncodeTiled`: `tensorDataType`, `globalAddress`, `globalDim`, `globalStrides`, `boxDim`, `elementStrides`, and
    /// the numbers of `interleave`, `swizzle`, `l2Promotion` and `oobFill`.
    ///
    /// # Errors
    /// [`TensorMapError::Rule`], if a rule of the driver does not hold; it is not asked then. [`TensorMapError::Refused`], if it refuses.
    pub fn encode_by<E: fmt::Display>(
        &self,
        driver: impl FnOnce(u32, u64, &[u64], &[u64], &[u32], &[u32], [u32; 4]) -> Result<[u64; 16], E>,
    ) -> Result<TensorMap, TensorMapError> {
        let map = self.checked()?;
        let numbers = [map.interleave, self.swizzle as u32, map.promotion, map.fill];
        let (sizes, strides) = (&map.sizes[..D], &map.strides[..D - 1]);
        driver(map.element, map.address, sizes, strides, &map.tile[..D], &map.steps[..D], numbers)
            .map(TensorMap::new)
            .map_err(|why| TensorMapError::Refused(why.to_string()))
    }

    /// The description, of which each rule holds.
    pub(crate) fn checked(&self) -> Result<Described, TensorMapError> {
        let (format, strides) = (self.format, &self.strides);
        if format.bytes() != self.element {
            let (bytes, element) = (format.bytes(), self.element);
            let why =
                format!("tensorDataType is {format:?}, of {bytes} bytes: the elements at globalAddress have {element}");
            return Err(TensorMapError::Rule(why));
        }
        if strides.len() != D - 1 {
            let why = format!("globalStrides has {} numbers: {D} dimensions need {}", strides.len(), D - 1);
            return Err(TensorMapError::Rule(why));
        }
        let map =
            Described { element: format as u32, strides: first(strides), ..self.map }.swizzled(self.swizzle as u32);
        map.check().map(|()| map).map_err(TensorMapError::Rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told<const D: usize>(map: &Tiled<D>) -> String {
        map.encode().unwrap_err().to_string().split_once(": ").expect("a reason").1.to_owned()
    }

    #[test]
    fn each_rule_is_named_with_its_number() {
        let at = std::ptr::without_provenance::<f32>(4096);
        let map = || TensorMap::tiled(at, [64, 100], [32, 8]);
        assert!(map().encode().is_ok());
        assert_eq!(told(&map().strides(&[260])), "globalStrides[0] is 260: it must be a multiple of 16 below 2^40");
        assert_eq!(told(&map().strides(&[])), "globalStrides has 0 numbers: 2 dimensions need 1");
        assert_eq!(told(&map().steps([1, 9])), "elementStrides[1] is 9: 1 to 8 are possible");
        assert_eq!(
            told(&map().swizzle(Swizzle::Bytes64)),
            "boxDim[0] has 128 bytes: a swizzle of 64 bytes takes 64 at most"
        );
        assert_eq!(told(&map().interleave(Interleave::Bytes16)), "tensorRank is 2: an interleave needs 3 or more");
        assert_eq!(
            told(&map().format(Format::Bf16)),
            "tensorDataType is Bf16, of 2 bytes: the elements at globalAddress have 4"
        );
        assert_eq!(told(&TensorMap::tiled(at, [64, 0], [32, 8])), "globalDim[1] is 0: 1 to 2^32 are possible");
        assert_eq!(told(&TensorMap::tiled(at, [64, 9], [32, 257])), "boxDim[1] is 257: 1 to 256 are possible");
        assert_eq!(
            told(&TensorMap::tiled(at.wrapping_add(1), [64], [32])),
            "globalAddress is 0x1004: it is no multiple of 16"
        );
        let numbers = TensorMap::tiled(at.cast::<u32>(), [64], [32]);
        assert_eq!(told(&numbers.fill(Fill::Nan)), "oobFill is NaN: tensorDataType must be a float");
    }

    #[test]
    fn the_driver_is_given_what_was_said() {
        let at = std::ptr::without_provenance::<u16>(4096);
        let map = TensorMap::tiled(at, [64, 9, 5], [16, 2, 1])
            .format(Format::Bf16)
            .strides(&[256, 4096])
            .steps([1, 2, 1])
            .swizzle(Swizzle::Bytes128By64)
            .promotion(Promotion::Bytes256)
            .fill(Fill::Nan);
        let encoded = map.encode_by(|element, address, sizes, strides, tile, steps, numbers| {
            assert_eq!((element, address, sizes, strides), (9, 4096, &[64, 9, 5][..], &[256, 4096][..]));
            assert_eq!((tile, steps, numbers), (&[16, 2, 1][..], &[1, 2, 1][..], [0, 6, 3, 1]));
            Ok::<_, &str>([7; 16])
        });
        assert_eq!(encoded.map(|map| map.bytes()[..9].to_vec()), Ok(vec![7, 0, 0, 0, 0, 0, 0, 0, 7]));
        let refused = map.encode_by(|_, _, _, _, _, _, _| Err("no GPU"));
        assert_eq!(refused.unwrap_err().to_string(), "no tensor map was made: no GPU");
        let wrong = map.steps([0; 3]).encode_by(|_, _, _, _, _, _, _| -> Result<_, &str> { panic!("nobody asks it") });
        assert!(matches!(wrong, Err(TensorMapError::Rule(_))), "{wrong:?}");
    }

    #[test]
    fn elements_are_one_after_the_other_unless_it_is_said() {
        let at = std::ptr::without_provenance::<u64>(4096);
        let map = TensorMap::tiled(at, [10, 4, 3], [2, 1, 1]).checked().unwrap();
        assert_eq!((map.strides, map.element), ([80, 320, 0, 0], 4));
    }
}
