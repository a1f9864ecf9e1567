//! The types and operations of `atom` and `red`.

use super::element::*;
use super::gate::{self, Needs};
#[cfg(not(ptx_device))]
use super::row::Signature;

words! {
    /// What an atomic does with the value in memory.
    AtomicOperation {
        And ".and" "" Always;
        Or ".or" "" Always;
        Xor ".xor" "" Always;
        Exch ".exch" "" Always;
        Cas ".cas" "" Always;
        Inc ".inc" "" Always;
        Dec ".dec" "" Always;
        Add ".add" "" Always;
        Min ".min" "" Always;
        Max ".max" "" Always;
    }
}

/// Calls `$callback! { $args {AtomKind same (Rust type) (words) [text] shape class register number [what it takes]} … }` with every
/// type of an atomic.
///
/// `Kind` names the type where the macros need a path: the `same` as the Rust type, or `marked` by a type of its own, where
/// others count as it too. What it takes are groups of operations: the target where they begin, whether `.noftz` follows
/// them, and their names. `number` is what one element counts as.
macro_rules! for_each_atomic {
    ($callback:ident $args:tt) => {
        $callback! { $args
            {AtomB16 marked (B16) (b16) [".b16"] x1 reg16 u16 U16 [Atomic16 false Cas;]}
            {AtomB32 marked (B32) (b32) [".b32"] x1 reg32 u32 U32 [Always false And Or Xor Exch Cas;]}
            {AtomB64 marked (B64) (b64) [".b64"] x1 reg64 u64 U64 [Always false Exch Cas; Atomic64 false And Or Xor;]}
            {AtomB128 same (B128) (b128) [".b128"] b128 reg64 u64 U128 [Atomic128 false Exch Cas;]}
            {AtomU32 same (u32) (u32) [".u32"] x1 reg32 u32 U32 [Always false Inc Dec Add Min Max;]}
            {AtomU64 same (u64) (u64) [".u64"] x1 reg64 u64 U64 [Always false Add; Atomic64 false Min Max;]}
            {AtomS32 same (i32) (s32) [".s32"] x1 reg32 u32 S32 [Always false Add Min Max;]}
            {AtomS64 same (i64) (s64) [".s64"] x1 reg64 u64 S64 [Atomic64 false Min Max;]}
            {AtomF32 same (f32) (f32) [".f32"] x1 reg32 f32 F32 [Always false Add; AtomicF32Noftz true Add;]}
            {AtomF32x2 same (V2<f32>) (v2 f32) [".v2.f32"] x2 reg32 f32 F32 [AtomicVectors false Add; AtomicF32Noftz true Add;]}
            {AtomF32x4 same (V4<f32>) (v4 f32) [".v4.f32"] x4 reg32 f32 F32 [AtomicVectors false Add; AtomicF32Noftz true Add;]}
            {AtomF64 same (f64) (f64) [".f64"] x1 reg64 f64 F64 [AtomicScopes false Add;]}
            {AtomF16 marked (B16) (f16) [".f16"] x1 reg16 u16 F16 [Atomic16 true Add;]}
            {AtomF16v2 marked (V2<B16>) (v2 f16) [".v2.f16"] x2 reg16 u16 F16 [AtomicVectors true Add Min Max;]}
            {AtomF16v4 marked (V4<B16>) (v4 f16) [".v4.f16"] x4 reg16 u16 F16 [AtomicVectors true Add Min Max;]}
            {AtomF16v8 marked (V8<B16>) (v8 f16) [".v8.f16"] x8 reg16 u16 F16 [AtomicVectors true Add Min Max;]}
            {AtomF16x2 marked (B32) (f16x2) [".f16x2"] x1 reg32 u32 F16 [AtomicF16x2 true Add;]}
            {AtomF16x2v2 marked (V2<B32>) (v2 f16x2) [".v2.f16x2"] x2 reg32 u32 F16 [AtomicVectors true Add Min Max;]}
            {AtomF16x2v4 marked (V4<B32>) (v4 f16x2) [".v4.f16x2"] x4 reg32 u32 F16 [AtomicVectors true Add Min Max;]}
            {AtomBf16 marked (B16) (bf16) [".bf16"] x1 reg16 u16 Bf16 [AtomicBf16 true Add;]}
            {AtomBf16v2 marked (V2<B16>) (v2 bf16) [".v2.bf16"] x2 reg16 u16 Bf16 [AtomicVectors true Add Min Max;]}
            {AtomBf16v4 marked (V4<B16>) (v4 bf16) [".v4.bf16"] x4 reg16 u16 Bf16 [AtomicVectors true Add Min Max;]}
            {AtomBf16v8 marked (V8<B16>) (v8 bf16) [".v8.bf16"] x8 reg16 u16 Bf16 [AtomicVectors true Add Min Max;]}
            {AtomBf16x2 marked (B32) (bf16x2) [".bf16x2"] x1 reg32 u32 Bf16 [AtomicBf16 true Add;]}
            {AtomBf16x2v2 marked (V2<B32>) (v2 bf16x2) [".v2.bf16x2"] x2 reg32 u32 Bf16 [AtomicVectors true Add Min Max;]}
            {AtomBf16x2v4 marked (V4<B32>) (v4 bf16x2) [".v4.bf16x2"] x4 reg32 u32 Bf16 [AtomicVectors true Add Min Max;]}
        }
    };
}

/// What an element counts as; the number of its bits decides what is one atomic.
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "a variant is the type that it is named after")]
pub(crate) enum Number {
    U16,
    U32,
    U64,
    U128,
    S32,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

/// A type's row.
#[derive(Debug)]
pub(crate) struct TypeRow {
    pub(crate) ptx: &'static str,
    /// Each operation, whether `.noftz` follows it, and what it needs.
    pub(crate) takes: &'static [(AtomicOperation, bool, Needs)],
    #[cfg(not(ptx_device))]
    pub(crate) bytes: usize,
    #[cfg(not(ptx_device))]
    pub(crate) number: Number,
    #[cfg(not(ptx_device))]
    pub(crate) catalogue: CatalogueRow,
}

macro_rules! type_rows {
    (() $({$kind:ident $same:ident $t:tt $words:tt [$text:literal] $shape:ident $class:ident $r:ident $number:ident $takes:tt})*) => {
        pub(crate) const TYPES: &[TypeRow] = &[$(TypeRow {
            ptx: $text,
            takes: type_rows!(@takes $takes),
            #[cfg(not(ptx_device))]
            bytes: size_of::<type_rows!(@type $t)>(),
            #[cfg(not(ptx_device))]
            number: Number::$number,
            #[cfg(not(ptx_device))]
            catalogue: catalogue_row! { $shape $t },
        }),*];

        /// Each type, where the macros need a path.
        #[doc(hidden)]
        pub mod kinds {
            use super::*;
            $(type_rows! { @$same $kind $t })*
        }
    };
    (@takes [$($gate:ident $noftz:literal $($op:ident)*;)*]) => {
        &[$($((AtomicOperation::$op, $noftz, Needs::of::<gate::$gate>()),)*)*]
    };
    (@type ($t:ty)) => { $t };
    (@same $kind:ident ($($t:tt)*)) => {
        #[allow(missing_docs, reason = "only the macros see it")]
        pub type $kind = $($t)*;
        impl sealed::Kind for $kind {}
        impl Kind for $kind {
            type Rust = Self;
        }
    };
    (@marked $kind:ident ($($t:tt)*)) => {
        #[allow(missing_docs, reason = "only the macros and error messages show it")]
        #[derive(Clone, Copy, Debug)]
        pub enum $kind {}
        impl sealed::Kind for $kind {}
        impl Kind for $kind {
            type Rust = $($t)*;
        }
        impl sealed::MovedAs<$kind> for $($t)* {}
        #[diagnostic::do_not_recommend]
        impl MovedAs<$kind> for $($t)* {}
    };
}

/// A type as PTX's words name it.
#[doc(hidden)]
pub trait Kind: sealed::Kind {
    /// The Rust type of its values.
    type Rust: Copy;
}

/// The texts of a type's forms: at a pointer, a `SharedPtr`, a `SharedClusterPtr`.
#[cfg(not(ptx_device))]
#[derive(Debug)]
pub(crate) struct CatalogueRow {
    pub(crate) rust: &'static str,
    /// Of a load, which `multimem` has.
    pub(crate) load: Signature<'static>,
    pub(crate) red: [Signature<'static>; 3],
    pub(crate) atom: [Signature<'static>; 3],
    pub(crate) cas: [Signature<'static>; 3],
}

#[cfg(not(ptx_device))]
macro_rules! catalogue_row {
    ($shape:ident ($scalar:ident)) => {
        catalogue_row! { @value $shape stringify!($scalar) }
    };
    ($shape:ident ($vector:ident<$scalar:ident>)) => {
        catalogue_row! { @value $shape concat!(stringify!($vector), "<", stringify!($scalar), ">") }
    };
    (@value x1 $t:expr) => {
        catalogue_row! { @row $t, "%" "%" "%" }
    };
    (@value x2 $t:expr) => {
        catalogue_row! { @row $t, "{%, %}" "{%, %}" "" }
    };
    (@value x4 $t:expr) => {
        catalogue_row! { @row $t, "{%, %, %, %}" "{%, %, %, %}" "" }
    };
    (@value x8 $t:expr) => {
        catalogue_row! { @row $t, "{%, %, %, %, %, %, %, %}" "{%, %, %, %, %, %, %, %}" "" }
    };
    (@value b8x4 $t:expr) => {
        catalogue_row! { @row $t, "{%l0, %l1, %l2, %l3}" "{%l0, %l1, %l2, %l3}" "" }
    };
    (@value b8x8 $t:expr) => {
        catalogue_row! {
            @row $t, "{%l0, %l1, %l2, %l3, %l4, %l5, %l6, %l7}" "{%l0, %l1, %l2, %l3, %l4, %l5, %l6, %l7}" ""
        }
    };
    (@value b128 $t:expr) => {
        catalogue_row! { @row $t, "%old" "%value" "%compare" }
    };
    (@row $t:expr, $old:literal $value:literal $compare:literal) => {
        CatalogueRow {
            rust: $t,
            load: Signature { parameters: "p: *const u8", result: Some($t), operands: concat!($old, ", [%]") },
            red: catalogue_row! { @places concat!("v: ", $t), None, concat!("[%], ", $value) },
            atom: catalogue_row! { @places concat!("v: ", $t), Some($t), concat!($old, ", [%], ", $value) },
            cas: catalogue_row! {
                @places concat!("compare: ", $t, ", v: ", $t), Some($t), concat!($old, ", [%], ", $compare, ", ", $value)
            },
        }
    };
    (@places $values:expr, $result:expr, $operands:expr) => {[
        Signature { parameters: concat!("p: *mut u8, ", $values), result: $result, operands: $operands },
        Signature { parameters: concat!("p: SharedPtr<u8>, ", $values), result: $result, operands: $operands },
        Signature { parameters: concat!("p: SharedClusterPtr<u8>, ", $values), result: $result, operands: $operands },
    ]};
}

for_each_atomic! { type_rows () }

/// Other types that are the same bits.
macro_rules! counts_as {
    ($($t:ty => $($kind:ident)*),* $(,)?) => { $($(
        #[diagnostic::do_not_recommend]
        impl MovedAs<kinds::$kind> for $t {}
        impl sealed::MovedAs<kinds::$kind> for $t {}
        const _: () = {
            assert!(size_of::<$t>() == size_of::<<kinds::$kind as Kind>::Rust>());
            assert!(align_of::<$t>() == align_of::<<kinds::$kind as Kind>::Rust>());
        };
    )*)* };
}
counts_as! { u16 => AtomB16, u32 => AtomB32, u64 => AtomB64, i32 => AtomB32, i64 => AtomB64 }

#[cfg(feature = "half")]
mod half_types {
    use super::*;
    use half::{bf16, f16};

    counts_as! {
        f16 => AtomF16, V2<f16> => AtomF16v2 AtomF16x2, V4<f16> => AtomF16v4 AtomF16x2v2, V8<f16> => AtomF16v8 AtomF16x2v4,
        bf16 => AtomBf16, V2<bf16> => AtomBf16v2 AtomBf16x2, V4<bf16> => AtomBf16v4 AtomBf16x2v2, V8<bf16> => AtomBf16v8 AtomBf16x2v4,
    }
}
