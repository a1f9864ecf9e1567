//! How an access is ordered: weak, volatile, relaxed, acquire, release, memory-mapped.

use super::caching::*;
use super::element::*;
use super::gate::{self, Gate};
use super::prefetch_size::*;
use super::scope::Scope;
use super::space::*;

mod sealed {
    pub trait Sealed {}
}

/// How an access is ordered among others: the last word about a load or store before its address. As a value it is an
/// [`OrderWord`].
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
    #[cfg(not(ptx_device))]
    const ON_CPU: Meaning;
    /// What `.b128` in this order needs.
    #[doc(hidden)]
    type Gate128: Gate;
}

/// What an access is on a CPU.
#[doc(hidden)]
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A plain access.
    Plain,
    /// A volatile access.
    Volatile,
    /// Each element an atomic one.
    Relaxed,
    /// Each element atomic, and nothing after it moves before it.
    Acquire,
    /// Each element atomic, and nothing before it moves after it.
    Release,
}

/// Each order: its name, PTX's word, the method, the gate of the word; of a marker its number, the
/// gate of a `.b128` in this order, and its example. `AcqRel` is a word of atomics alone.
macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident $(<$scope:ident>)? $text:literal $method:literal $word_gate:ident
        $marker:tt;)*) => {
        $(orders! { @marker $(#[$doc])* $name $(<$scope>)? $marker })*

        words! {
            /// An [`Order`] without its scope, as a value. An atomic may be `AcqRel` too.
            OrderWord { $($name $text $method $word_gate;)* }
        }
    };
    (@marker $name:ident {}) => {};
    (@marker $(#[$doc:meta])* $name:ident $(<$scope:ident>)?
        { id ($($id:tt)*), of_128_bits $gate128:ty, $($page:tt)* }) => {
        $(#[$doc])*
        #[doc = page! { $($page)* }]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name $(<$scope>(core::marker::PhantomData<$scope>))?;

        impl $(<$scope: Scope>)? sealed::Sealed for $name $(<$scope>)? {}
        #[diagnostic::do_not_recommend]
        impl $(<$scope: Scope>)? Order for $name $(<$scope>)? {
            const ID: u8 = $($id)*;
            #[cfg(not(ptx_device))]
            const ON_CPU: Meaning = OrderWord::on_cpu(Some(OrderWord::$name));
            type Gate128 = $gate128;
        }
    };
}
orders! {
    /// No order of its own: `.weak`, the default of PTX.
    Weak ".weak" "" Orders {
        id (0), of_128_bits gate::Bits128,
        load "ld_global::<NoHint, NoPrefetch>()", "ld.global",
        {"LDG.E" sm_90, ld ld_const ld_global ld_global_nc ld_local ld_param_entry ld_param_func ld_shared ld_shared_cluster st st_global st_local st_shared st_shared_cluster}
    };
    /// `.volatile`: never dropped, never doubled; relaxed for the whole system.
    #[doc(alias = "ld.volatile")]
    #[doc(alias = "st.volatile")]
    Volatile ".volatile" ".volatile()" Always {
        id (1), of_128_bits gate::Bits128,
        atomic load "ld_global::<NoHint, NoPrefetch>().volatile()", "ld.volatile.global",
        {"LDG.E.STRONG.SYS" sm_90, ld ld_global ld_local ld_shared ld_shared_cluster st st_global st_local st_shared st_shared_cluster}
    };
    /// `.relaxed.scope`: atomic, without an order.
    ///
    #[doc = needs!(Orders)]
    ///
    /// Of `.relaxed.cluster` on 256-bit types the assembler of CUDA 13.0 leaves the access out, and that of CUDA 13.1 ends with an
    /// internal error. The others make what was written.
    #[doc(alias = "ld.relaxed")]
    #[doc(alias = "st.relaxed")]
    Relaxed<S> ".relaxed" ".relaxed::<>()" Orders {
        id (4 + S::WORD as u8), of_128_bits S::Gate128,
        atomic load "ld_global::<NoHint, NoPrefetch>().relaxed::<Gpu>()", "ld.relaxed.gpu.global",
        {"LDG.E.STRONG.GPU" sm_90, ld ld_global ld_shared ld_shared_cluster st st_global st_shared st_shared_cluster}
    };
    /// `.acquire.scope`: what follows stays after it.
    ///
    #[doc = needs!(Orders)]
    #[doc(alias = "ld.acquire")]
    Acquire<S> ".acquire" ".acquire::<>()" Orders {
        id (8 + S::WORD as u8), of_128_bits S::Gate128,
        atomic load "ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>()", "ld.acquire.gpu.global",
        {"LDG.E.STRONG.GPU ; CCTL.IVALL" sm_90, ld ld_global ld_shared ld_shared_cluster}
    };
    /// `.release.scope`: what precedes stays before it.
    ///
    #[doc = needs!(Orders)]
    #[doc(alias = "st.release")]
    Release<S> ".release" ".release::<>()" Orders {
        id (12 + S::WORD as u8), of_128_bits S::Gate128,
        store "st_global::<NoHint>().release::<Gpu>()", "st.release.gpu.global",
        {"MEMBAR.ALL.GPU ; ERRBAR ; CGAERRBAR ; STG.E.STRONG.GPU" sm_90, st st_global st_shared st_shared_cluster}
    };
    AcqRel ".acq_rel" "" Orders {};
    /// `.mmio.relaxed.sys`: on memory-mapped registers.
    ///
    #[doc = needs!(MemoryMapped)]
    #[doc(alias = "ld.mmio")]
    #[doc(alias = "st.mmio")]
    Mmio ".mmio" ".mmio()" MemoryMapped {
        id (2), of_128_bits gate::Bits128System,
        atomic load "ld_global::<NoHint, NoPrefetch>().mmio()", "ld.mmio.relaxed.sys.global",
        {"LDG.E.MMIO.SYS" sm_90, ld ld_global st st_global}
    };
}

#[cfg(not(ptx_device))]
impl OrderWord {
    /// What a load or store of this order is on a CPU.
    #[inline]
    pub(crate) const fn on_cpu(order: Option<Self>) -> Meaning {
        match order {
            None | Some(Self::Weak) => Meaning::Plain,
            Some(Self::Volatile | Self::Relaxed) => Meaning::Relaxed,
            Some(Self::Acquire) => Meaning::Acquire,
            Some(Self::Release | Self::AcqRel) => Meaning::Release,
            Some(Self::Mmio) => Meaning::Volatile,
        }
    }
}

/// An order that an access to the space `S` can have.
#[diagnostic::on_unimplemented(
    message = "an access to `{S}` cannot be `{Self}`",
    note = "`.relaxed`, `.acquire`, `.release`: generic, global and shared addresses; `.volatile`: local ones too; `.mmio`: generic and global ones"
)]
pub trait OrderIn<S>: Order {
    /// What the order needs in this space, beyond what its scope needs.
    #[doc(hidden)]
    type Gate: Gate;
}

macro_rules! orders_in {
    ($($order:ident: $($space:ident $gate:ident),*;)*) => { $($(
        #[diagnostic::do_not_recommend]
        impl OrderIn<$space> for $order {
            type Gate = gate::$gate;
        }
    )*)* };
    ($($order:ident<_>: $($space:ident),*;)*) => { $($(
        #[diagnostic::do_not_recommend]
        impl<S: Scope> OrderIn<$space> for $order<S> {
            type Gate = gate::Always;
        }
    )*)* };
}
orders_in! {
    Volatile: Generic Always, Global Always, Shared Always, SharedCluster Always, Local VolatileLocal;
    Mmio: Generic MemoryMapped, Global MemoryMapped;
}
orders_in! {
    Relaxed<_>: Generic, Global, Shared, SharedCluster;
    Acquire<_>: Generic, Global, Shared, SharedCluster;
    Release<_>: Generic, Global, Shared, SharedCluster;
}

/// An order in which an access can move a `T`.
#[diagnostic::on_unimplemented(
    message = "an access that is `{Self}` cannot move a `{T}`",
    note = "`.mmio` moves scalars only",
    note = "on 256-bit types the assembler loses `.acquire` and `.release` (the fence is missing in the machine code): move two 128-bit halves, or use `.relaxed` and a fence"
)]
pub trait Moves<T>: Order {
    /// What both need together.
    #[doc(hidden)]
    type Gate: Gate;
}

macro_rules! moves {
    (() $({($t:ty) $word:tt $text:tt $class:ident $register:ident $width:ident {$registers:ident $($data:tt)*}})*) => {
        $(moves! { @$width $registers $t })*
    };
    (@narrow X1 $t:ty) => {
        moves! { @any $t, Weak Volatile Mmio [Relaxed Acquire Release] }
    };
    (@narrow $vector:ident $t:ty) => {
        moves! { @any $t, Weak Volatile [Relaxed Acquire Release] }
    };
    (@wide $vector:ident $t:ty) => {
        moves! { @any $t, Weak Volatile [Relaxed] }
    };
    (@any $t:ty, $($plain:ident)* [$($scoped:ident)*]) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Moves<$t> for $plain {
                type Gate = gate::Always;
            }
        )*
        $(
            #[diagnostic::do_not_recommend]
            impl<S: Scope> Moves<$t> for $scoped<S> {
                type Gate = gate::Always;
            }
        )*
    };
    (@quad $shape:ident $t:ty) => {
        #[diagnostic::do_not_recommend]
        impl<O: Order> Moves<$t> for O {
            type Gate = O::Gate128;
        }
    };
}
for_each_element! { moves () }

/// A caching qualifier of an access that `.relaxed`, `.acquire` and `.release` can be called on: [`NoHint`] and [`NoAllocate`].
#[diagnostic::on_unimplemented(
    message = "the methods `relaxed`, `acquire` and `release` take `NoHint` or `NoAllocate`, not `{Self}`",
    note = "write an eviction priority with `ptx!`: `ptx!(ld.acquire.gpu.global.L1::evict_last.f32 [p])`, `ptx!(st.release.gpu.global.L1::evict_last.f32 [p], v)`",
    note = "a cache operator is only for weak accesses"
)]
pub trait OrderedCaching: Caching {}

/// A caching qualifier of an access that `.volatile` and `.mmio` can be called on: [`NoHint`].
#[diagnostic::on_unimplemented(
    message = "`.volatile` and `.mmio` take no caching qualifier, and this access has `{Self}`",
    note = "use `NoHint`"
)]
pub trait Unhinted: Caching {}

/// An order that `read_if` and `write_if` have: [`Weak`].
#[diagnostic::on_unimplemented(
    message = "the methods `read_if` and `write_if` are for weak accesses, and this one is `{Self}`",
    note = "write an ordered access under a predicate with `ptx!`: `ptx!(@cond ld.acquire.gpu.global.u32 [p], else 0)`"
)]
pub trait UnderPredicate: Order {}

/// An order in which `read_with` and `write_with` exist on an access to `Space`. There is none: the methods of that name belong
/// to [`LdGlobal`](crate::LdGlobal), [`LdGlobalNc`](crate::LdGlobalNc) and [`StGlobal`](crate::StGlobal).
#[diagnostic::on_unimplemented(
    message = "no method has `.L2::cache_hint` for this access",
    label = "an ordered one, or one in this space",
    note = "`.L2::cache_hint` is for generic and global addresses, and not with `.volatile` or `.mmio`: write \
            `ld_global::<EvictLast, NoPrefetch>().read_with(p, policy)`, or in PTX's words \
            `ptx!(ld.relaxed.gpu.L2::cache_hint.f32 [p], policy)`"
)]
pub trait PolicyByMethod<Space>: Order {
    #[doc(hidden)]
    fn never<T>() -> T;
}

/// An access that can acquire. No store is one.
#[diagnostic::on_unimplemented(
    message = "a store cannot be `.acquire`",
    label = "only a load has it",
    note = "a store is `.release::<Gpu>()`, and the load in another thread that sees its value is `.acquire::<Gpu>()`"
)]
pub trait AcquiredByLoads {}

/// An access that can release. No load is one.
#[diagnostic::on_unimplemented(
    message = "a load cannot be `.release`",
    label = "only a store has it",
    note = "a load is `.acquire::<Gpu>()`, and the store in another thread whose value it sees is `.release::<Gpu>()`"
)]
pub trait ReleasedByStores {}

/// An access that can have an order. `ld.global.nc` is none.
#[diagnostic::on_unimplemented(
    message = "`ld.global.nc` has no order: nothing may write what it reads while the kernel runs",
    label = "`ld.global` has it",
    note = "write `ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>()`; `.volatile()`, `.relaxed::<Gpu>()` and `.mmio()` are its methods too"
)]
pub trait Coherent {}

/// A prefetch size of a load that an order can be given to: [`NoPrefetch`].
#[diagnostic::on_unimplemented(
    message = "the methods `volatile`, `relaxed`, `acquire` and `mmio` take `NoPrefetch`, not `{Self}`",
    note = "write a prefetch size with `ptx!`: `ptx!(ld.acquire.gpu.global.L2::128B.f32 [p])`; `.mmio` has none"
)]
pub trait Unprefetched: PrefetchSize {}

/// What the methods of accesses take: impls for the compiler, and the same for the catalogue, by the names of the markers.
macro_rules! methods_take {
    (orders [$($orders:ident)*]; sizes [$($size:ident)*]; $($caching:ident for $($order:ident)|*: [$($marker:ident)*];)*) => {
        methods_take! { @impls UnderPredicate $($orders)* }
        methods_take! { @impls Unprefetched $($size)* }
        $(methods_take! { @impls $caching $($marker)* })*

        #[cfg(not(ptx_device))]
        impl OrderWord {
            /// Whether the methods have it under a predicate.
            pub(crate) fn under_predicate(self) -> bool {
                matches!(self, $(Self::$orders)|*)
            }

            /// Whether the method of this order takes an access to global memory with these markers.
            pub(crate) fn takes(self, caching: &str, size: &str) -> bool {
                let cachings: &[&str] = match self {
                    $($(Self::$order)|* => &[$(stringify!($marker)),*],)*
                    Self::Weak | Self::AcqRel => &[],
                };
                cachings.contains(&caching) && [$(stringify!($size)),*].contains(&size)
            }
        }
    };
    (@impls $bound:ident $($marker:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl $bound for $marker {}
    )* };
}
methods_take! {
    orders [Weak];
    sizes [NoPrefetch];
    Unhinted for Volatile | Mmio: [NoHint];
    OrderedCaching for Relaxed | Acquire | Release: [NoHint NoAllocate];
}

/// The row of an instruction for an order and a caching qualifier.
#[doc(hidden)]
pub trait OrderRow: Copy + 'static + sealed::Sealed {
    const ID: u8;
    #[cfg(not(ptx_device))]
    const ON_CPU: Meaning;
}

impl<O: Order, C: Caching> sealed::Sealed for (O, C) {}
impl<O: Order, C: Caching> OrderRow for (O, C) {
    const ID: u8 = O::ID + C::ID;
    #[cfg(not(ptx_device))]
    const ON_CPU: Meaning = O::ON_CPU;
}
