//! The registers of fragments.

mod sealed {
    pub trait Sealed {}
}

/// A register of a fragment.
pub trait Register: Copy + sealed::Sealed {
    /// What LLVM calls its type.
    #[cfg(target_arch = "nvptx64")]
    #[doc(hidden)]
    type Raw: Copy;
    #[cfg(target_arch = "nvptx64")]
    #[doc(hidden)]
    fn raw(self) -> Self::Raw;
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    fn bits(self) -> u64;
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    fn of_bits(bits: u64) -> Self;
}

/// A register of 32 bits, which `ldmatrix` and `stmatrix` move.
#[diagnostic::on_unimplemented(
    message = "`ldmatrix` and `stmatrix` do not move a `{Self}`",
    note = "they move registers of 32 bits: `Bf16x2`, `F16x2`, `Tf32`, `S8x4`, `E4m3x4`, …, `u32`"
)]
pub trait Register32: Register {
    #[doc(hidden)]
    fn word(self) -> u32;
    #[doc(hidden)]
    fn of_word(word: u32) -> Self;
}

/// Two `f16` as LLVM knows them.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "rustc cannot derive it for what LLVM calls a vector")]
#[repr(simd)]
pub struct Halves([f16; 2]);

macro_rules! register {
    ($type:ty, $raw:ty, |$value:ident| $bits:expr, |$of:ident| $back:expr) => {
        impl sealed::Sealed for $type {}
        impl Register for $type {
            #[cfg(target_arch = "nvptx64")]
            type Raw = $raw;
            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            fn raw(self) -> $raw {
                // SAFETY: both are numbers of one size.
                unsafe { core::mem::transmute::<$type, $raw>(self) }
            }
            #[cfg(not(target_arch = "nvptx64"))]
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
            #[cfg(not(target_arch = "nvptx64"))]
            fn of_bits($of: u64) -> Self {
                $back
            }
        }
    };
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident $raw:ty;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        register!($name, $raw, |value| value.0.into(), |bits| $name(bits as u32));
        impl Register32 for $name {
            #[inline(always)]
            fn word(self) -> u32 {
                self.0
            }
            #[inline(always)]
            fn of_word(word: u32) -> Self {
                $name(word)
            }
        }
    )* };
}
words! {
    /// Two `f16`.
    F16x2 Halves;
    /// Two `bf16`.
    Bf16x2 u32;
    /// One `tf32`: an `f32` whose lowest 13 bits are ignored.
    Tf32 u32;
    /// Four `i8`.
    S8x4 u32;
    /// Four `u8`.
    U8x4 u32;
    /// Eight integers of 4 bits, from −8 to 7.
    S4x8 u32;
    /// Eight integers of 4 bits, from 0 to 15.
    U4x8 u32;
    /// 32 bits.
    B1x32 u32;
    /// Four FP8, of 4 bits of exponent and 3 of fraction. It has no infinity.
    E4m3x4 u32;
    /// Four FP8, of 5 bits of exponent and 2 of fraction.
    E5m2x4 u32;
}

register!(u32, u32, |value| value.into(), |bits| bits as u32);
register!(i32, i32, |value| (value as u32).into(), |bits| bits as i32);
register!(f32, f32, |value| value.to_bits().into(), |bits| f32::from_bits(bits as u32));
register!(f64, f64, |value| value.to_bits(), |bits| f64::from_bits(bits));

impl Register32 for u32 {
    #[inline(always)]
    fn word(self) -> u32 {
        self
    }
    #[inline(always)]
    fn of_word(word: u32) -> Self {
        word
    }
}

/// What an intrinsic returns: several registers of one type.
#[cfg(target_arch = "nvptx64")]
macro_rules! several {
    ($($name:ident($($register:ident)*);)*) => { $(
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub(super) struct $name<R>($($register),*);
    )* };
}
#[cfg(target_arch = "nvptx64")]
several! {
    Of2(R R);
    Of4(R R R R);
    Of8(R R R R R R R R);
}
