//! How an access is ordered: weak, volatile, relaxed, acquire, release, memory-mapped; and for which threads.

use super::caching::*;
use super::prefetch_size::*;
use super::space::*;
use super::target::{self, ptx20, ptx82, sm_20, sm_70};
use crate::element::*;

mod sealed {
    pub trait Sealed {}
}

/// The threads that an ordered access synchronises with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scope",
    label = "PTX has `.cta`, `.cluster`, `.gpu` and `.sys`",
    note = "use `Cta`, `Cluster`, `Gpu` or `Sys`"
)]
pub trait Scope: Copy + 'static + sealed::Sealed {
    #[doc(hidden)]
    const ID: u8;
    #[doc(hidden)]
    type Sm: target::Sm;
    #[doc(hidden)]
    type Isa: target::Isa;
    /// The oldest PTX ISA version in which an ordered `.b128` has this scope.
    #[doc(hidden)]
    type Isa128: target::Isa;
}

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident $text:literal $id:literal $sm:ident $isa:ident $isa128:ident;)*) => { $(
        $(#[$doc])*
        #[doc = ""]
        #[doc = concat!("PTX: `", $text, "`. Needs ", stringify!($sm), " and ", stringify!($isa), ".")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl sealed::Sealed for $name {}
        #[diagnostic::do_not_recommend]
        impl Scope for $name {
            const ID: u8 = $id;
            type Sm = target::$sm;
            type Isa = target::$isa;
            type Isa128 = target::$isa128;
        }
    )* };
}
scopes! {
    /// The threads of one block.
    Cta ".cta" 0 sm_70 ptx60 ptx83;
    /// The threads of one cluster of blocks.
    Cluster ".cluster" 1 sm_90 ptx78 ptx83;
    /// All threads of this GPU.
    Gpu ".gpu" 2 sm_70 ptx60 ptx83;
    /// All threads of the system: every GPU and the CPU.
    Sys ".sys" 3 sm_70 ptx60 ptx84;
}

/// How an access is ordered among others: the last word about a load or store before its address.
///
/// | Marker | Method | Meaning |
/// | --- | --- | --- |
/// | [`Weak`] | | ordered by other means, such as a barrier |
/// | [`Volatile`] | `.volatile()` | never dropped, never doubled, as relaxed for the whole system |
/// | [`Relaxed`] | `.relaxed::<Scope>()` | atomic, without an order |
/// | [`Acquire`] | `.acquire::<Scope>()` | what follows stays after it |
/// | [`Release`] | `.release::<Scope>()` | what precedes stays before it |
/// | [`Mmio`] | `.mmio()` | on memory-mapped registers: exactly one access of exactly this width |
#[diagnostic::on_unimplemented(message = "`{Self}` is not an order of memory accesses")]
pub trait Order: Copy + 'static + sealed::Sealed {
    #[doc(hidden)]
    const ID: u8;
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    const ON_HOST: crate::host::Meaning;
    #[doc(hidden)]
    type Sm: target::Sm;
    #[doc(hidden)]
    type Isa: target::Isa;
    /// The oldest PTX ISA version in which `.b128` takes this order.
    #[doc(hidden)]
    type Isa128: target::Isa;
}

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident $(<$scope:ident>)? ($($id:tt)*) $host:ident [$($sm:tt)*] [$($isa:tt)*] [$($isa128:tt)*];)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name $(<$scope>(core::marker::PhantomData<$scope>))?;

        impl $(<$scope: Scope>)? sealed::Sealed for $name $(<$scope>)? {}
        #[diagnostic::do_not_recommend]
        impl $(<$scope: Scope>)? Order for $name $(<$scope>)? {
            const ID: u8 = $($id)*;
            #[cfg(not(target_arch = "nvptx64"))]
            const ON_HOST: crate::host::Meaning = crate::host::Meaning::$host;
            type Sm = $($sm)*;
            type Isa = $($isa)*;
            type Isa128 = $($isa128)*;
        }
    )* };
}
orders! {
    /// No order of its own: `.weak`, which is what PTX takes where nothing is said.
    Weak (0) Plain [sm_20] [ptx20] [target::ptx83];
    /// `.volatile`: never dropped, never doubled; relaxed for the whole system.
    #[doc(alias = "ld.volatile")]
    #[doc(alias = "st.volatile")]
    Volatile (1) Relaxed [sm_20] [ptx20] [target::ptx83];
    /// `.mmio.relaxed.sys`: on memory-mapped registers. Needs sm_70 and PTX ISA 8.2.
    #[doc(alias = "ld.mmio")]
    #[doc(alias = "st.mmio")]
    Mmio (2) Volatile [sm_70] [ptx82] [target::ptx84];
    /// `.relaxed.scope`: atomic, without an order. Needs sm_70 and PTX ISA 6.0.
    #[doc(alias = "ld.relaxed")]
    #[doc(alias = "st.relaxed")]
    Relaxed<S> (4 + S::ID) Relaxed [S::Sm] [S::Isa] [S::Isa128];
    /// `.acquire.scope`: what follows stays after it. Needs sm_70 and PTX ISA 6.0.
    #[doc(alias = "ld.acquire")]
    Acquire<S> (8 + S::ID) Acquire [S::Sm] [S::Isa] [S::Isa128];
    /// `.release.scope`: what precedes stays before it. Needs sm_70 and PTX ISA 6.0.
    #[doc(alias = "st.release")]
    Release<S> (12 + S::ID) Release [S::Sm] [S::Isa] [S::Isa128];
}

/// `Self` can be said of an access to the space `S`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an access to `{S}` cannot be `{Self}`",
    note = "`.relaxed`, `.acquire`, `.release`: generic, global and shared addresses; `.volatile`: local ones too; `.mmio`: generic and global ones"
)]
pub trait OrderIn<S>: Order {
    /// The oldest PTX ISA version in which this space has the order.
    type Since: target::Isa;
}

macro_rules! orders_in {
    ($($order:ty, $scope:tt: $($space:ident $since:ident),*;)*) => { $(orders_in! { @each $order, $scope $($space $since)* })* };
    (@each $order:ty, $scope:tt $space:ident $since:ident $($rest:tt)*) => {
        orders_in! { @impl $order, $scope $space $since }
        orders_in! { @each $order, $scope $($rest)* }
    };
    (@each $order:ty, $scope:tt) => {};
    (@impl $order:ty, [] $space:ident $since:ident) => {
        #[diagnostic::do_not_recommend]
        impl OrderIn<$space> for $order {
            type Since = target::$since;
        }
    };
    (@impl $order:ty, [$scope:ident] $space:ident $since:ident) => {
        #[diagnostic::do_not_recommend]
        impl<$scope: Scope> OrderIn<$space> for $order {
            type Since = target::$since;
        }
    };
}
orders_in! {
    Volatile, []: Generic ptx20, Global ptx20, Shared ptx20, SharedCluster ptx20, Local ptx91;
    Mmio, []: Generic ptx82, Global ptx82;
    Relaxed<X>, [X]: Generic ptx60, Global ptx60, Shared ptx60, SharedCluster ptx60;
    Acquire<X>, [X]: Generic ptx60, Global ptx60, Shared ptx60, SharedCluster ptx60;
    Release<X>, [X]: Generic ptx60, Global ptx60, Shared ptx60, SharedCluster ptx60;
}

/// An access of order `O` can move a `Self`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an access that is `{O}` cannot move a `{Self}`",
    note = "`.mmio` moves scalars only",
    note = "on 256-bit types the assembler forgets `.acquire` and `.release` (the fence is missing in the machine code): move two 128-bit halves, or use `.relaxed` and a fence"
)]
pub trait MovedBy<O>: PtxType {
    /// The oldest PTX ISA version that has both.
    type Since: target::Isa;
}

macro_rules! moved_by {
    (() $({($t:ty) $word:tt $text:tt $shape:ident $class:ident $register:ident $width:ident})*) => {
        $(moved_by! { @$width $shape $t })*
    };
    (@narrow x1 $t:ty) => {
        moved_by! { @any $t, Weak Volatile Mmio [Relaxed Acquire Release] }
    };
    (@narrow $vector:ident $t:ty) => {
        moved_by! { @any $t, Weak Volatile [Relaxed Acquire Release] }
    };
    (@wide $vector:ident $t:ty) => {
        moved_by! { @any $t, Weak Volatile [Relaxed] }
    };
    (@any $t:ty, $($plain:ident)* [$($scoped:ident)*]) => {
        $(
            #[diagnostic::do_not_recommend]
            impl MovedBy<$plain> for $t {
                type Since = ptx20;
            }
        )*
        $(
            #[diagnostic::do_not_recommend]
            impl<S: Scope> MovedBy<$scoped<S>> for $t {
                type Since = ptx20;
            }
        )*
    };
    (@quad $shape:ident $t:ty) => {
        #[diagnostic::do_not_recommend]
        impl<O: Order> MovedBy<O> for $t {
            type Since = O::Isa128;
        }
    };
}
for_each_element! { moved_by () }

/// A caching qualifier that `.relaxed`, `.acquire` and `.release` take as methods.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the methods `relaxed`, `acquire` and `release` take `NoHint` or `NoAllocate`, not `{Self}`",
    note = "an eviction priority is spelled by `ptx!`: `ptx!(ld.acquire.gpu.global.L1::evict_last.f32 [p])`, `ptx!(st.release.gpu.global.L1::evict_last.f32 [p], v)`",
    note = "a cache operator is for weak accesses alone"
)]
pub trait OrderedCaching: Caching {}
#[diagnostic::do_not_recommend]
impl OrderedCaching for NoHint {}
#[diagnostic::do_not_recommend]
impl OrderedCaching for NoAllocate {}

/// Nothing is said about caching.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`.volatile` and `.mmio` take no caching qualifier, and this access has `{Self}`",
    note = "use `NoHint`"
)]
pub trait Unhinted: Caching {}
#[diagnostic::do_not_recommend]
impl Unhinted for NoHint {}

/// An order that the methods spell under a predicate.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the methods `read_if` and `write_if` are for weak accesses, and this one is `{Self}`",
    note = "an ordered access under a predicate is spelled by `ptx!`: `ptx!(@cond ld.acquire.gpu.global.u32 [p], else 0)`"
)]
pub trait UnderPredicate: Order {}
#[diagnostic::do_not_recommend]
impl UnderPredicate for Weak {}

/// An access to which a method gives a policy: none of those with this parameter, `LdGlobal` and `StGlobal` have theirs.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "no method spells `.L2::cache_hint` on this access",
    label = "an ordered one, or one in this space",
    note = "`.L2::cache_hint` stands on generic and global addresses, and not with `.volatile` or `.mmio`: write \
            `ld_global::<EvictLast, NoPrefetch>().read_with(p, policy)`, or in PTX's words \
            `ptx!(ld.relaxed.gpu.L2::cache_hint.f32 [p], policy)`"
)]
pub trait PolicyByMethod<Space>: Order {
    /// What is never called needs no body.
    fn never<T>() -> T;
}

/// Nothing is said about prefetching.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the methods `volatile`, `relaxed`, `acquire` and `mmio` take `NoPrefetch`, not `{Self}`",
    note = "a prefetch size is spelled by `ptx!`: `ptx!(ld.acquire.gpu.global.L2::128B.f32 [p])`; `.mmio` has none"
)]
pub trait Unprefetched: PrefetchSize {}
#[diagnostic::do_not_recommend]
impl Unprefetched for NoPrefetch {}

/// The methods that give an access an order: `$head` is the impl, `$access<$space, …, $caching>` what they give.
macro_rules! order_methods {
    ([$($head:tt)*] $access:ident<$space:ty, $caching:ty> $at:ty, [$($plain:tt)*] [$($ordered:tt)*]
        $sync:ident $method:ident $text:literal $means:literal) => {
        $($head)* {
            /// This access as a volatile one: never dropped, never doubled. PTX: `.volatile`, before the space.
            ///
            /// Needs sm_20 and PTX ISA 2.0, for local memory 9.1.
            #[inline(always)]
            pub const fn volatile(self) -> $access<$space, Volatile, $caching>
            where
                Volatile: OrderIn<$space, Since: HasPtx<Volatile, $at>>,
                $($plain)*
            {
                $access(PhantomData)
            }

            /// This access as an atomic one that orders nothing: `.relaxed::<Gpu>()`. PTX: `.relaxed.scope`, before the
            /// space. A vector is atomic element by element.
            ///
            /// Needs sm_70 and PTX ISA 6.0; [`Cluster`] sm_90 and 7.8.
            #[inline(always)]
            pub const fn relaxed<TheScope>(self) -> $access<$space, Relaxed<TheScope>, $caching>
            where
                TheScope: Scope<Sm: HasSm<TheScope>, Isa: HasPtx<TheScope>>,
                Relaxed<TheScope>: OrderIn<$space>,
                $($ordered)*
            {
                $access(PhantomData)
            }

            #[doc = concat!("This access as an atomic one that orders others: ", $means, " PTX: `", $text, ".scope`, before the")]
            /// space. A vector is atomic element by element.
            ///
            /// Needs sm_70 and PTX ISA 6.0; [`Cluster`] sm_90 and 7.8. Types of 256 bits are refused: the assembler
            /// forgets the order.
            #[inline(always)]
            pub const fn $method<TheScope>(self) -> $access<$space, $sync<TheScope>, $caching>
            where
                TheScope: Scope<Sm: HasSm<TheScope>, Isa: HasPtx<TheScope>>,
                $sync<TheScope>: OrderIn<$space>,
                $($ordered)*
            {
                $access(PhantomData)
            }

            /// This access as one to memory-mapped registers: exactly one, of exactly this width, scalars only. PTX:
            /// `.mmio.relaxed.sys`, before the space.
            ///
            /// Needs sm_70 and PTX ISA 8.2.
            #[inline(always)]
            pub const fn mmio(self) -> $access<$space, Mmio, $caching>
            where
                Mmio: OrderIn<$space, Since: HasPtx<Mmio, $at>>,
                sm_70: HasSm<Mmio, $at>,
                $($plain)*
            {
                $access(PhantomData)
            }
        }
    };
}

/// The row of an instruction for an order and a caching qualifier.
#[doc(hidden)]
pub trait Row: Copy + 'static + sealed::Sealed {
    const ID: u8;
    #[cfg(not(target_arch = "nvptx64"))]
    const ON_HOST: crate::host::Meaning;
}

impl<O: Order, C: Caching> sealed::Sealed for (O, C) {}
impl<O: Order, C: Caching> Row for (O, C) {
    const ID: u8 = O::ID + C::ID;
    #[cfg(not(target_arch = "nvptx64"))]
    const ON_HOST: crate::host::Meaning = O::ON_HOST;
}
