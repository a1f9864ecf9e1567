//! The bounds of generic functions: which types one access moves, in each kind of memory.

use crate::emit::access::{Load, LoadIn, LoadInIf, Store, StoreIn, StoreInIf};
use crate::emit::shared::SharedAccess;
use crate::isa::element::*;
use crate::isa::gate::*;
use crate::isa::order::{Moves, Weak};
use crate::isa::space::{self, Holds, Space};

/// What the methods call, for all types that have a bound.
mod sealed {
    use super::*;

    pub trait Global: Element<Ptx: Load<space::Global> + Load<space::GlobalNc> + Store<space::Global>> {}
    impl<T: Element<Ptx: Load<space::Global> + Load<space::GlobalNc> + Store<space::Global>>> Global for T {}

    pub trait Shared: Element<Ptx: SharedAccess> {}
    impl<T: Element<Ptx: SharedAccess>> Shared for T {}

    pub trait From<S>: Element<Ptx: LoadIn<S> + LoadInIf<S>> {}
    impl<S, T: Element<Ptx: LoadIn<S> + LoadInIf<S>>> From<S> for T {}

    pub trait To<S>: Element<Ptx: StoreIn<S> + StoreInIf<S>> {}
    impl<S, T: Element<Ptx: StoreIn<S> + StoreInIf<S>>> To<S> for T {}
}

/// A bound, and what the compiler says where it is missing.
macro_rules! bound {
    ($(#[$doc:meta])* $name:ident [$($parameter:tt)*]: [$($sealed:tt)*], $message:tt, $write:tt) => {
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            note = $write,
            note = "PTX moves integers and floats of 8 to 64 bits, `B8`…`B128`, `V2` and `V4` of up to 64-bit elements, and `V8` of 32-bit elements",
            note = "move a struct field by field, a `bool` as `u8`, a `char` as `u32`, a `usize`, a reference or a pointer as `u64`"
        )]
        pub trait $name<$($parameter)*>: Element + $($sealed)* {}
    };
}

bound! {
    /// A type that this build can load from global memory and store there: the bound of a generic function that does.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    ///
    /// unsafe fn copy<T: GlobalElement>(from: *const T, to: *mut T) {
    ///     unsafe { st_global::<Cs>().write(to, ld_global_nc::<EvictFirst, NoPrefetch>().read(from)) }
    /// }
    ///
    /// let (from, mut to) = (V4::new([1.0f32, 2.0, 3.0, 4.0]), V4::default());
    /// unsafe { copy(&from, &mut to) };
    /// assert_eq!(to, from);
    /// ```
    ///
    /// Every [`Element`] that the target has is one. The trait is sealed.
    GlobalElement []: [sealed::Global],
    "the compiler does not know that one access to global memory can move a `{Self}`",
    "in a generic function, write the bound `T: GlobalElement`"
}

bound! {
    /// A type that this build can load from shared memory and store there through a [`SharedPtr`](crate::SharedPtr): the bound
    /// of a generic function that does.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    ///
    /// unsafe fn swap<T: SharedElement>(a: SharedPtr<T>, b: SharedPtr<T>) {
    ///     unsafe {
    ///         let first = a.read();
    ///         a.write(b.read());
    ///         b.write(first);
    ///     }
    /// }
    ///
    /// let mut pair = [1u32, 2];
    /// let first = SharedPtr::new(pair.as_mut_ptr());
    /// unsafe { swap(first, first.add(1)) };
    /// assert_eq!(pair, [2, 1]);
    /// ```
    ///
    /// Every [`Element`] of up to 128 bits that the target has is one. The trait is sealed.
    SharedElement []: [sealed::Shared],
    "the compiler does not know that one access to shared memory can move a `{Self}`",
    "in a generic function, write the bound `T: SharedElement`; no type of 256 bits has it: use two halves of 128 bits"
}

bound! {
    /// A type that this build can load from the space `S` in the order `O`: the bound of a generic function that does.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    /// use ptx_intrinsics::space::*;
    ///
    /// unsafe fn flag<T: LoadFrom<Global, Acquire<Gpu>>>(p: *const T) -> T {
    ///     unsafe { ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(p) }
    /// }
    ///
    /// let mut ready = 1u32;
    /// assert_eq!(unsafe { flag(&raw mut ready) }, 1);
    /// ```
    ///
    /// The trait is sealed.
    LoadFrom [S, O = Weak]: [sealed::From<S>],
    "one load from `{S}` is not known to move a `{Self}`",
    "in a generic function, write the bound `T: LoadFrom<{S}, {O}>`; `.acquire` moves 128 bits at most, and `.mmio` a scalar"
}

bound! {
    /// A type that this build can store to the space `S` in the order `O`: the bound of a generic function that does.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    /// use ptx_intrinsics::space::*;
    ///
    /// unsafe fn fill<T: StoreTo<Generic>>(to: *mut T, count: usize, value: T) {
    ///     for at in 0..count {
    ///         unsafe { st().write(to.add(at), value) };
    ///     }
    /// }
    ///
    /// let mut row = [0u16; 3];
    /// unsafe { fill(row.as_mut_ptr(), 3, 7) };
    /// assert_eq!(row, [7; 3]);
    /// ```
    ///
    /// The trait is sealed.
    StoreTo [S, O = Weak]: [sealed::To<S>],
    "one store to `{S}` is not known to move a `{Self}`",
    "in a generic function, write the bound `T: StoreTo<{S}, {O}>`; `.release` moves 128 bits at most, and `.mmio` a scalar"
}

/// The bounds of each type, with its gate.
macro_rules! bounds {
    (() $({($t:ty) $words:tt $text:tt $class:ident $register:ident $width:ident $registers:tt})*) => {
        $(bounds! { @$width $t, $t })*
    };
    (@narrow $t:ty, $ptx:ty) => {
        impl GlobalElement for $t {}
        impl SharedElement for $t {}
        bounds! { @in_spaces $t, $ptx, [] }
    };
    (@quad $t:ty, $ptx:ty) => {
        impl GlobalElement for $t where for<'a> Bits128: OnTarget<$t, &'a ()> {}
        impl SharedElement for $t where for<'a> Bits128: OnTarget<$t, &'a ()> {}
        bounds! { @in_spaces $t, $ptx, [for<'a> Bits128: OnTarget<$t, &'a ()>,] }
    };
    (@wide $t:ty, $ptx:ty) => {
        impl GlobalElement for $t where for<'a> Bits256: OnTarget<$t, &'a ()> {}
        bounds! { @in_spaces $t, $ptx, [for<'a> Bits256: OnTarget<$t, &'a ()>,] }
    };
    (@in_spaces $t:ty, $ptx:ty, [$($gate:tt)*]) => {
        impl<S, O> LoadFrom<S, O> for $t
        where
            S: Space<Gate: OnTarget<S, $t>> + Holds<$ptx>,
            O: Moves<$ptx, Gate: OnTarget<$t>>,
            Self: sealed::From<S>,
            $($gate)*
        {
        }
        impl<S, O> StoreTo<S, O> for $t
        where
            S: Space<Gate: OnTarget<S, $t>> + Holds<$ptx>,
            O: Moves<$ptx, Gate: OnTarget<$t>>,
            Self: sealed::To<S>,
            $($gate)*
        {
        }
    };
}
for_each_element! { bounds () }
bounds! { @quad u128, B128 }
bounds! { @quad i128, B128 }

#[cfg(feature = "half")]
mod half_types {
    use super::*;
    use half::{bf16, f16};

    bounds! { @narrow f16, B16 }
    bounds! { @narrow V2<f16>, V2<B16> }
    bounds! { @narrow V4<f16>, V4<B16> }
    bounds! { @narrow bf16, B16 }
    bounds! { @narrow V2<bf16>, V2<B16> }
    bounds! { @narrow V4<bf16>, V4<B16> }
}
