//! The types and operations of `multimem`.

#[cfg(not(ptx_device))]
use super::atomic::CatalogueRow;
use super::atomic::{AtomicOperation, Kind};
use super::element::*;
use super::gate::{self, Needs};
#[cfg(not(ptx_device))]
use super::row::Signature;

words! {
    /// What is done at a multimem address.
    MultimemWord {
        LdReduce ".ld_reduce" "" Multimems;
        St ".st" "" Multimems;
        Red ".red" "" Multimems;
    }
}

words! {
    /// How precisely a sum is made.
    AccumulationWord {
        F32 ".acc::f32" "" MultimemSums;
        F16 ".acc::f16" "" MultimemFp8;
    }
}

/// Calls `$callback! { $args {Kind (Rust type) (words) [text] shape class register bytes Group} … }` with every type of `multimem`.
///
/// `Kind` is that of `atom` and `red`, if these have the type. `bytes` are those of a number, and what the type takes is its group's.
macro_rules! for_each_multimem {
    ($callback:ident $args:tt) => {
        $callback! { $args
            {AtomB32 (B32) (b32) [".b32"] x1 reg32 u32 4 Bits}
            {AtomB64 (B64) (b64) [".b64"] x1 reg64 u64 8 Bits}
            {AtomU32 (u32) (u32) [".u32"] x1 reg32 u32 4 Counted}
            {AtomU64 (u64) (u64) [".u64"] x1 reg64 u64 8 Counted}
            {AtomS32 (i32) (s32) [".s32"] x1 reg32 u32 4 Counted}
            {AtomS64 (i64) (s64) [".s64"] x1 reg64 u64 8 Ranked}
            {AtomF32 (f32) (f32) [".f32"] x1 reg32 f32 4 Float}
            {AtomF32x2 (V2<f32>) (v2 f32) [".v2.f32"] x2 reg32 f32 4 Float}
            {AtomF32x4 (V4<f32>) (v4 f32) [".v4.f32"] x4 reg32 f32 4 Float}
            {AtomF64 (f64) (f64) [".f64"] x1 reg64 f64 8 Float}
            {AtomF16v2 (V2<B16>) (v2 f16) [".v2.f16"] x2 reg16 u16 2 Half}
            {AtomF16v4 (V4<B16>) (v4 f16) [".v4.f16"] x4 reg16 u16 2 Half}
            {AtomF16v8 (V8<B16>) (v8 f16) [".v8.f16"] x8 reg16 u16 2 Half}
            {AtomF16x2 (B32) (f16x2) [".f16x2"] x1 reg32 u32 2 Half}
            {AtomF16x2v2 (V2<B32>) (v2 f16x2) [".v2.f16x2"] x2 reg32 u32 2 Half}
            {AtomF16x2v4 (V4<B32>) (v4 f16x2) [".v4.f16x2"] x4 reg32 u32 2 Half}
            {AtomBf16v2 (V2<B16>) (v2 bf16) [".v2.bf16"] x2 reg16 u16 2 Half}
            {AtomBf16v4 (V4<B16>) (v4 bf16) [".v4.bf16"] x4 reg16 u16 2 Half}
            {AtomBf16v8 (V8<B16>) (v8 bf16) [".v8.bf16"] x8 reg16 u16 2 Half}
            {AtomBf16x2 (B32) (bf16x2) [".bf16x2"] x1 reg32 u32 2 Half}
            {AtomBf16x2v2 (V2<B32>) (v2 bf16x2) [".v2.bf16x2"] x2 reg32 u32 2 Half}
            {AtomBf16x2v4 (V4<B32>) (v4 bf16x2) [".v4.bf16x2"] x4 reg32 u32 2 Half}
            {E4m3v4 (V4<B8>) (v4 e4m3) [".v4.e4m3"] b8x4 reg32 u32 1 Fp8}
            {E4m3v8 (V8<B8>) (v8 e4m3) [".v8.e4m3"] b8x8 reg32 u32 1 Fp8}
            {E4m3x2v2 (V2<B16>) (v2 e4m3x2) [".v2.e4m3x2"] x2 reg16 u16 1 Fp8}
            {E4m3x2v4 (V4<B16>) (v4 e4m3x2) [".v4.e4m3x2"] x4 reg16 u16 1 Fp8}
            {E4m3x2v8 (V8<B16>) (v8 e4m3x2) [".v8.e4m3x2"] x8 reg16 u16 1 Fp8}
            {E4m3x4 (B32) (e4m3x4) [".e4m3x4"] x1 reg32 u32 1 Fp8}
            {E4m3x4v2 (V2<B32>) (v2 e4m3x4) [".v2.e4m3x4"] x2 reg32 u32 1 Fp8}
            {E4m3x4v4 (V4<B32>) (v4 e4m3x4) [".v4.e4m3x4"] x4 reg32 u32 1 Fp8}
            {E5m2v4 (V4<B8>) (v4 e5m2) [".v4.e5m2"] b8x4 reg32 u32 1 Fp8}
            {E5m2v8 (V8<B8>) (v8 e5m2) [".v8.e5m2"] b8x8 reg32 u32 1 Fp8}
            {E5m2x2v2 (V2<B16>) (v2 e5m2x2) [".v2.e5m2x2"] x2 reg16 u16 1 Fp8}
            {E5m2x2v4 (V4<B16>) (v4 e5m2x2) [".v4.e5m2x2"] x4 reg16 u16 1 Fp8}
            {E5m2x2v8 (V8<B16>) (v8 e5m2x2) [".v8.e5m2x2"] x8 reg16 u16 1 Fp8}
            {E5m2x4 (B32) (e5m2x4) [".e5m2x4"] x1 reg32 u32 1 Fp8}
            {E5m2x4v2 (V2<B32>) (v2 e5m2x4) [".v2.e5m2x4"] x2 reg32 u32 1 Fp8}
            {E5m2x4v4 (V4<B32>) (v4 e5m2x4) [".v4.e5m2x4"] x4 reg32 u32 1 Fp8}
        }
    };
}

/// Types that take the same operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Bits,
    /// Integers that have a sum.
    Counted,
    /// Integers that have none.
    Ranked,
    /// Floats of 32 and 64 bits.
    Float,
    /// Floats of 16 bits.
    Half,
    /// Floats of 8 bits.
    Fp8,
}

impl Group {
    /// Whether its types take the operation.
    #[inline]
    pub(crate) const fn takes(self, word: MultimemWord, op: AtomicOperation) -> bool {
        use AtomicOperation::{Add, And, Max, Min, Or, Xor};
        let ranks = matches!(op, Min | Max);
        match self {
            Self::Bits => matches!(op, And | Or | Xor),
            Self::Counted => matches!(op, Add) || ranks,
            Self::Ranked => ranks,
            Self::Float => matches!(op, Add),
            Self::Half => matches!(op, Add) || ranks && matches!(word, MultimemWord::LdReduce),
            Self::Fp8 => (matches!(op, Add) || ranks) && matches!(word, MultimemWord::LdReduce),
        }
    }

    /// The precision that its sums may be made in beside their own.
    #[inline]
    pub(crate) const fn accumulates(self) -> Option<AccumulationWord> {
        match self {
            Self::Half => Some(AccumulationWord::F32),
            Self::Fp8 => Some(AccumulationWord::F16),
            _ => None,
        }
    }

    #[inline]
    pub(crate) const fn needs(self) -> Needs {
        match self {
            Self::Fp8 => Needs::of::<gate::MultimemFp8>(),
            _ => Needs::NOTHING,
        }
    }
}

/// A type's row.
#[derive(Debug)]
pub(crate) struct MultimemType {
    pub(crate) ptx: &'static str,
    pub(crate) group: Group,
    #[cfg(not(ptx_device))]
    pub(crate) bytes: usize,
    /// The bytes of one number.
    #[cfg(not(ptx_device))]
    pub(crate) number: usize,
    #[cfg(not(ptx_device))]
    pub(crate) catalogue: CatalogueRow,
}

macro_rules! multimem_rows {
    (() $({$kind:ident ($($t:tt)*) $words:tt [$text:literal] $shape:ident $class:ident $r:ident $number:literal $group:ident})*) => {
        pub(crate) const TYPES: &[MultimemType] = &[$(MultimemType {
            ptx: $text,
            group: Group::$group,
            #[cfg(not(ptx_device))]
            bytes: size_of::<$($t)*>(),
            #[cfg(not(ptx_device))]
            number: $number,
            #[cfg(not(ptx_device))]
            catalogue: catalogue_row! { $shape ($($t)*) },
        }),*];

        /// Each type, where the macros need a path.
        #[doc(hidden)]
        pub mod kinds {
            use super::*;
            pub use crate::isa::atomic::kinds::*;
            $(multimem_rows! { @$group $kind ($($t)*) })*
        }
    };
    (@Fp8 $kind:ident $t:tt) => {
        type_rows! { @marked $kind $t }
    };
    // `atom` and `red` have it.
    (@$group:ident $kind:ident $t:tt) => {};
}
for_each_multimem! { multimem_rows () }
