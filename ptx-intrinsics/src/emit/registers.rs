//! The registers of a value, and a value as its registers.

/// A register with nothing in it.
#[cfg(all(ptx_device, not(ptx_by_markers)))]
pub type Unset<R> = core::mem::MaybeUninit<R>;

/// A register with nothing in it. A marker gives the value alone.
#[cfg(ptx_by_markers)]
pub type Unset<R> = R;

/// Registers with nothing in them.
#[cfg(ptx_by_markers)]
#[inline(always)]
pub(crate) const fn uninit<R: Copy>() -> R {
    // SAFETY: only ever called for structs of numbers.
    unsafe { core::mem::zeroed() }
}

/// Registers with nothing in them.
#[cfg(all(ptx_device, not(ptx_by_markers)))]
#[inline(always)]
pub(crate) const fn uninit<R: Copy>() -> R {
    // A union and not `MaybeUninit::assume_init`, which stays a call in a dev build.
    union Nothing<R: Copy> {
        nothing: (),
        registers: R,
    }
    // SAFETY: only ever called for structs of `MaybeUninit` fields, which need not be initialised.
    unsafe { Nothing { nothing: () }.registers }
}

/// A value of `Self::Ptx` as the type that it holds, or the other way round.
#[inline(always)]
pub(crate) const fn same_bits<A: Copy, B: Copy>(a: A) -> B {
    // A union and not `transmute_copy`, which stays a call in a dev build.
    union Bits<A: Copy, B: Copy> {
        a: A,
        b: B,
    }
    const { assert!(size_of::<A>() == size_of::<B>()) };
    // SAFETY: `Element` promises one size and that all bit patterns are values of both.
    unsafe { Bits { a }.b }
}

/// The first bits of a value, up to the size of a `B`. The macros never use a `B` that is larger than the value.
#[cfg(ptx_device)]
#[inline(always)]
pub(crate) const fn first_bits<A: Copy, B: Copy>(a: A) -> B {
    union Bits<A: Copy, B: Copy> {
        a: A,
        b: B,
    }
    // SAFETY: only the arm of the axis is compiled whose word is the type `A`; it has the size of `B`, an array of registers.
    unsafe { Bits { a }.b }
}

/// A predicate as a register.
#[inline(always)]
pub const fn bit(cond: bool) -> u32 {
    cond as u32
}

/// Whether a predicate, as a number, is set.
#[cfg(ptx_device)]
#[inline(always)]
pub(crate) const fn is_set(predicate: u32) -> bool {
    predicate != 0
}

/// The registers of a shape, each a field of its own: indexing an array would leave bounds checks in a dev build.
#[doc(hidden)]
#[macro_export]
macro_rules! __registers {
    (x1 $r:ty) => { $crate::emit::registers::X1<$r> };
    (x2 $r:ty) => { $crate::emit::registers::X2<$r> };
    (x4 $r:ty) => { $crate::emit::registers::X4<$r> };
    (x8 $r:ty) => { $crate::emit::registers::X8<$r> };
    (b8x4 $r:ty) => { $crate::emit::registers::X1<$r> };
    (b8x8 $r:ty) => { $crate::emit::registers::X2<$r> };
    (b128 $r:ty) => { $crate::emit::registers::X2<$r> };
}

#[cfg(ptx_device)]
pub use self::shapes::*;

/// Registers side by side, laid out as the element type that they hold.
#[cfg(ptx_device)]
#[allow(missing_docs, reason = "only the macros see them")]
pub mod shapes {
    /// A number and a predicate, as LLVM's intrinsics give them.
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Flagged(pub u32, pub bool);
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct X1<R>(pub R);
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct X2<R>(pub R, pub R);
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct X4<R>(pub R, pub R, pub R, pub R);
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct X8<R>(pub R, pub R, pub R, pub R, pub R, pub R, pub R, pub R);
}
