//! The values that an instruction moves: PTX's `.type` and `.vec`.

use core::fmt;

/// The table of element types: every `.vec.type` that PTX moves. It makes `for_each_element!`.
///
/// A row is `{(type) (words) [text] class register width registers}`. `class` and `register` are what `asm!` takes for each
/// register, `width` is `wide` for the 256-bit ones. `registers` says what holds the value, how it is written as an operand, and each register with its
/// field. For `.b128` it goes on: Rust has no register of 128 bits, so the block declares one, packs it, unpacks it, and ends.
macro_rules! element_types {
    ($d:tt) => {
        element_types! { @rows $d []
            short B8 b8 ".b8" reg16 u8, short u8 u8 ".u8" reg16 u8, short i8 s8 ".s8" reg16 u8,
            short B16 b16 ".b16" reg16 u16, short u16 u16 ".u16" reg16 u16, short i16 s16 ".s16" reg16 u16,
            word B32 b32 ".b32" reg32 u32, word u32 u32 ".u32" reg32 u32, word i32 s32 ".s32" reg32 u32,
            word f32 f32 ".f32" reg32 f32,
            long B64 b64 ".b64" reg64 u64, long u64 u64 ".u64" reg64 u64, long i64 s64 ".s64" reg64 u64,
            long f64 f64 ".f64" reg64 f64,
        }
    };
    // What is 256 bits wide depends on the bits of an element: V4 of short ones, V8 of words, V4 of long ones.
    (@rows $d:tt $done:tt short $t:ident $word:ident $text:literal $class:ident $r:ident, $($rest:tt)*) => {
        element_types! { @add $d $done [
            {($t) ($word) [$text] $class $r narrow {X1 "{d0}" [d0.0]}}
            {(V2<$t>) (v2 $word) [".v2" $text] $class $r narrow {X2 "{{{d0}, {d1}}}" [d0.0 d1.1]}}
            {(V4<$t>) (v4 $word) [".v4" $text] $class $r narrow {X4 "{{{d0}, {d1}, {d2}, {d3}}}" [d0.0 d1.1 d2.2 d3.3]}}
        ] $($rest)* }
    };
    (@rows $d:tt $done:tt word $t:ident $word:ident $text:literal $class:ident $r:ident, $($rest:tt)*) => {
        element_types! { @add $d $done [
            {($t) ($word) [$text] $class $r narrow {X1 "{d0}" [d0.0]}}
            {(V2<$t>) (v2 $word) [".v2" $text] $class $r narrow {X2 "{{{d0}, {d1}}}" [d0.0 d1.1]}}
            {(V4<$t>) (v4 $word) [".v4" $text] $class $r narrow {X4 "{{{d0}, {d1}, {d2}, {d3}}}" [d0.0 d1.1 d2.2 d3.3]}}
            {(V8<$t>) (v8 $word) [".v8" $text] $class $r wide {X8 "{{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}}}" [d0.0 d1.1 d2.2 d3.3 d4.4 d5.5 d6.6 d7.7]}}
        ] $($rest)* }
    };
    (@rows $d:tt $done:tt long $t:ident $word:ident $text:literal $class:ident $r:ident, $($rest:tt)*) => {
        element_types! { @add $d $done [
            {($t) ($word) [$text] $class $r narrow {X1 "{d0}" [d0.0]}}
            {(V2<$t>) (v2 $word) [".v2" $text] $class $r narrow {X2 "{{{d0}, {d1}}}" [d0.0 d1.1]}}
            {(V4<$t>) (v4 $word) [".v4" $text] $class $r wide {X4 "{{{d0}, {d1}, {d2}, {d3}}}" [d0.0 d1.1 d2.2 d3.3]}}
        ] $($rest)* }
    };
    (@add $d:tt [$($done:tt)*] [$($new:tt)*] $($rest:tt)*) => {
        element_types! { @rows $d [$($done)* $($new)*] $($rest)* }
    };
    (@rows $d:tt [$($row:tt)*]) => {
        /// Calls `$callback! { $args row … }` with the rows of all element types.
        macro_rules! for_each_element {
            ($d callback:ident $d args:tt) => {
                $d callback! { $d args
                    $($row)*
                    {(B128) (b128) [".b128"] reg64 u64 quad {
                        X2 "%value" [d0.0 d1.1]
                        "{{\n.reg .b128 %value;\n" "mov.b128 %value, {{{d0}, {d1}}};\n" "\nmov.b128 {{{d0}, {d1}}}, %value;" "\n}}"
                    }}
                }
            };
        }
    };
}
element_types! { $ }

use super::gate::{self, Gate, Needs};
use super::word::{Key, key_of};

pub(crate) mod sealed {
    pub trait Sealed {}
    pub trait Element {}
    pub trait MovedAs<P> {}
    pub trait Kind {}
}

macro_rules! untyped {
    ($($name:ident $bits:literal $raw:ident)*) => { $(
        #[doc = concat!("Untyped ", $bits, " bits: `.b", $bits, "` in PTX, carried as `", stringify!($raw), "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $raw);

        impl From<$raw> for $name {
            #[inline(always)]
            fn from(bits: $raw) -> Self {
                Self(bits)
            }
        }

        impl From<$name> for $raw {
            #[inline(always)]
            fn from(bits: $name) -> Self {
                bits.0
            }
        }
    )* };
}
untyped! { B8 "8" u8 B16 "16" u16 B32 "32" u32 B64 "64" u64 B128 "128" u128 }

macro_rules! alignments {
    ($($name:ident $bytes:literal)*) => { $(
        #[doc(hidden)]
        #[derive(Clone, Copy)]
        #[repr(align($bytes))]
        pub struct $name;
    )* };
}
alignments! { A2 2 A4 4 A8 8 A16 16 A32 32 A64 64 }

/// A type that can be an element of [`V2`], [`V4`] and [`V8`]: every one that PTX moves but the 128-bit ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a PTX vector",
    note = "V2, V4 and V8 take integers and floats of 8 to 64 bits, `B8`…`B64`, and `f16`, `bf16` with feature `half`"
)]
pub trait Scalar: Copy + 'static + sealed::Sealed {
    #[doc(hidden)]
    type Align2: Copy;
    #[doc(hidden)]
    type Align4: Copy;
    #[doc(hidden)]
    type Align8: Copy;
}

macro_rules! scalars {
    ($([$($t:ty),*] $a2:ident $a4:ident $a8:ident)*) => { $($(
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
        impl Scalar for $t {
            type Align2 = $a2;
            type Align4 = $a4;
            type Align8 = $a8;
        }
    )*)* };
}
scalars! {
    [u8, i8, B8] A2 A4 A8
    [u16, i16, B16] A4 A8 A16
    [u32, i32, f32, B32] A8 A16 A32
    [u64, i64, f64, B64] A16 A32 A64
}

macro_rules! vectors {
    ($($name:ident $n:literal $align:ident)*) => { $(
        #[doc = concat!("A vector of ", $n, " elements: `.v", $n, "` in PTX. It is aligned to its size.")]
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct $name<T: Scalar>(
            /// The elements, in the order of their addresses.
            pub [T; $n],
            [T::$align; 0],
        );

        impl<T: Scalar> $name<T> {
            /// The vector of these elements.
            #[inline(always)]
            pub const fn new(elements: [T; $n]) -> Self {
                Self(elements, [])
            }
        }

        impl<T: Scalar> From<[T; $n]> for $name<T> {
            #[inline(always)]
            fn from(elements: [T; $n]) -> Self {
                Self::new(elements)
            }
        }

        impl<T: Scalar> From<$name<T>> for [T; $n] {
            #[inline(always)]
            fn from(vector: $name<T>) -> Self {
                vector.0
            }
        }

        impl<T: Scalar + Default> Default for $name<T> {
            #[inline(always)]
            fn default() -> Self {
                Self::new([T::default(); $n])
            }
        }

        impl<T: Scalar + PartialEq> PartialEq for $name<T> {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<T: Scalar + Eq> Eq for $name<T> {}

        impl<T: Scalar + fmt::Debug> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0).finish()
            }
        }
    )* };
}
vectors! { V2 2 Align2 V4 4 Align4 V8 8 Align8 }

/// A type that one PTX instruction moves.
///
/// | Rust | PTX |
/// | --- | --- |
/// | `u8`…`u64`, `i8`…`i64`, `f32`, `f64` | `.u8`…`.u64`, `.s8`…`.s64`, `.f32`, `.f64` |
/// | [`B8`]…[`B128`], `u128`, `i128` | `.b8`…`.b128` |
/// | `half::f16`, `half::bf16` (feature `half`) | `.b16` |
/// | [`V2`], [`V4`], [`V8`] of a scalar | `.v2`, `.v4`, `.v8` of its type |
///
#[doc = concat!("[`V4`] of 64-bit and [`V8`] of 32-bit elements are 256 bits wide. ", needs!(Bits256))]
///
#[doc = concat!("`.b128`: ", needs!(Bits128))]
///
/// # Safety
/// `Self` has the size, the alignment and every bit pattern of `Self::Ptx`. The trait is implemented here alone.
#[diagnostic::on_unimplemented(
    message = "PTX has no type for `{Self}`",
    label = "one instruction cannot move a `{Self}`",
    note = "use an integer or float, `B8`…`B128`, `V2` of up to 64-bit elements, `V4` of up to 64-bit elements, `V8` of 32-bit elements",
    note = "move a struct field by field, a `bool` as `u8`, a `char` as `u32`, a `usize`, a reference or a pointer as `u64`"
)]
pub unsafe trait Element: Copy + 'static + sealed::Element {
    /// The type that spells the instruction.
    #[doc(hidden)]
    type Ptx: PtxType;
}

/// A type that PTX itself has, one for each `.vec.type`.
#[doc(hidden)]
pub trait PtxType: Element<Ptx = Self> {
    /// One of the registers that hold it.
    type Register: Copy;
    /// What it needs.
    type Gate: Gate;
    /// PTX's words for it, and the same as a number.
    const TEXT: &'static str;
    const KEY: Key = key_of(Self::TEXT.as_bytes());
}

/// A type that [`ptx!`](crate::ptx) moves where its words say `P`: `P` itself, and types of the same bits.
#[diagnostic::on_unimplemented(
    message = "the words say `{P}`, and the pointer is to `{Self}`",
    label = "not a pointer to `{P}`",
    note = "change the type in the words (`.f32` is `f32`, `.s32` is `i32`, `.b32` is `B32`), or cast the pointer"
)]
pub trait MovedAs<P>: sealed::MovedAs<P> {}

/// A type of 256 bits: [`V8`] of 32-bit or [`V4`] of 64-bit elements.
#[diagnostic::on_unimplemented(
    message = "an L2 eviction priority needs a 256-bit type, and `{Self}` is not one",
    label = "`{Self}` is not 256 bits wide",
    note = "use `V8` of a 32-bit type or `V4` of a 64-bit type, or else an L1 priority or a `CachePolicy`"
)]
pub trait Wide: Element {}

macro_rules! ptx_types {
    (() $({($t:ty) $words:tt [$($text:literal)*] $class:ident $register:ident $width:ident $registers:tt})*) => {
        $(ptx_types! { @$width $t, $register, concat!($($text),*) })*
    };
    (@narrow $t:ty, $($row:tt)*) => { ptx_types! { @impl $t, Always, $($row)* } };
    (@quad $t:ty, $($row:tt)*) => { ptx_types! { @impl $t, Bits128, $($row)* } };
    (@wide $t:ty, $($row:tt)*) => {
        ptx_types! { @impl $t, Bits256, $($row)* }
        #[diagnostic::do_not_recommend]
        impl Wide for $t {}
    };
    (@impl $t:ty, $gate:ident, $register:ty, $text:expr) => {
        impl sealed::Element for $t {}
        // SAFETY: the type is its own.
        #[diagnostic::do_not_recommend]
        unsafe impl Element for $t {
            type Ptx = Self;
        }
        impl sealed::MovedAs<$t> for $t {}
        #[diagnostic::do_not_recommend]
        impl MovedAs<$t> for $t {}
        impl PtxType for $t {
            type Register = $register;
            type Gate = gate::$gate;
            const TEXT: &'static str = $text;
        }
    };
}
for_each_element! { ptx_types () }

macro_rules! rows_by_words {
    (($d:tt) $({($($t:tt)*) ($($word:ident)*) $($row:tt)*})*) => {
        /// Calls `$callback! { $args row … }` with the rows of the types that PTX's words name:
        /// `rows_of_elements! { callback args [] (f32) (v2 f32) }`.
        macro_rules! rows_of_elements {
            ($d callback:ident $d args:tt [$d($d row:tt)*]) => { $d callback! { $d args $d($d row)* } };
            $(($d callback:ident $d args:tt [$d($d row:tt)*] ($($word)*) $d($d rest:tt)*) => {
                rows_of_elements! { $d callback $d args [$d($d row)* {($($t)*) ($($word)*) $($row)*}] $d($d rest)* }
            };)*
        }
    };
}
for_each_element! { rows_by_words ($) }

/// The types that an instruction moves: a trait, and the table of words for `instructions!`, `<T in table>`. A type is named by
/// PTX's words, and all else about it comes from the table of element types.
macro_rules! types {
    ($($(#[$doc:meta])* $trait:ident, words $table:ident $said:literal, $message:literal, $takes:literal [$($type:tt)*];)*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = "not a type of this instruction", note = $takes)]
        pub trait $trait: $crate::isa::element::PtxType {}

        rows_of_elements! { words_of_types ($trait $table $said) [] $($type)* }
    )* };
}

/// Types as words: the word says which registers hold the argument.
macro_rules! words_of_types {
    (($trait:ident $table:ident $said:literal)
        $({($($t:tt)*) $words:tt [$($text:literal)*] $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl $trait for $($t)* {}
        )*

        macro_rules! $table {
            ($callback:ident $parameter:ident $row:tt) => { $callback! {
                @words $parameter [$crate::isa::element::Element<Ptx: $trait>]
                [<$parameter::Ptx as $crate::isa::element::PtxType>::KEY;
                    $((<$($t)* as $crate::isa::element::PtxType>::KEY
                        => ($($text)*) element_name!($($t)*), Always (value $class $r $registers)))*
                    (_ => "" $crate::isa::row::SAME, Always never)]
                $said "", $row
            } };
        }
    };
}

macro_rules! carried_as {
    ($($t:ty => $ptx:ty),* $(,)?) => { $(
        impl sealed::Element for $t {}
        // SAFETY: both are plain bits of one size and alignment.
        #[diagnostic::do_not_recommend]
        unsafe impl Element for $t {
            type Ptx = $ptx;
        }
        impl sealed::MovedAs<$ptx> for $t {}
        #[diagnostic::do_not_recommend]
        impl MovedAs<$ptx> for $t {}
        const _: () = assert!(size_of::<$t>() == size_of::<$ptx>() && align_of::<$t>() == align_of::<$ptx>());
    )* };
}
carried_as! { u128 => B128, i128 => B128 }

/// An element type's row: what it is called in Rust and in PTX, and what it needs.
#[derive(Debug)]
pub(crate) struct ElementRow {
    #[cfg(not(ptx_device))]
    pub(crate) rust: &'static str,
    pub(crate) ptx: &'static str,
    pub(crate) bytes: usize,
    /// One element and not a vector.
    pub(crate) scalar: bool,
    pub(crate) needs: Needs,
}

macro_rules! element_rows {
    (() $({($($t:tt)*) $words:tt [$($text:literal)*] $class:ident $register:ident $width:ident $registers:tt})*) => {
        pub(crate) const ELEMENTS: &[ElementRow] = &[$(ElementRow {
            #[cfg(not(ptx_device))]
            rust: element_name!($($t)*),
            ptx: concat!($($text),*),
            bytes: size_of::<$($t)*>(),
            scalar: concat!($($text),*).as_bytes()[1] != b'v',
            needs: Needs::of::<<$($t)* as PtxType>::Gate>(),
        }),*];
    };
}
/// `stringify!` would put blanks into `V2<f32>`.
#[cfg(not(ptx_device))]
macro_rules! element_name {
    ($scalar:ident) => {
        stringify!($scalar)
    };
    ($vector:ident<$scalar:ident>) => {
        concat!(stringify!($vector), "<", stringify!($scalar), ">")
    };
}
for_each_element! { element_rows () }

impl ElementRow {
    /// How many elements it has.
    #[inline]
    pub(crate) const fn lanes(&self) -> usize {
        match self.ptx.as_bytes() {
            [b'.', b'v', lanes, ..] => (*lanes - b'0') as usize,
            _ => 1,
        }
    }
}

#[cfg(feature = "half")]
mod half_types {
    use super::*;
    use half::{bf16, f16};

    scalars! { [f16, bf16] A4 A8 A16 }
    carried_as! {
        f16 => B16, V2<f16> => V2<B16>, V4<f16> => V4<B16>,
        bf16 => B16, V2<bf16> => V2<B16>, V4<bf16> => V4<B16>,
    }
}
