//! How an access is cached: operators, eviction priorities of L1 and L2, pairs of them.

use super::target::{self, ptx20, ptx74, ptx88, sm_20, sm_70, sm_100};
use crate::element::Wide;

/// The first parameter of a load or store: how the caches treat what it touches.
///
/// | Marker | Meaning |
/// | --- | --- |
/// | [`NoHint`] | nothing is said |
/// | [`Ca`] [`Cg`] [`Cs`] [`Lu`] [`Cv`], [`Wb`] [`Wt`] | a cache operator |
/// | [`EvictNormal`] [`EvictUnchanged`] [`EvictFirst`] [`EvictLast`] [`NoAllocate`] | an L1 eviction priority |
/// | [`L2EvictNormal`] [`L2EvictFirst`] [`L2EvictLast`] | an L2 eviction priority, for 256-bit types |
/// | `(L1, L2)` | one of each |
///
/// It is one parameter, so that an operator and a priority, which PTX refuses together, cannot meet.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a caching qualifier",
    note = "use `NoHint`, a cache operator, an L1 or an L2 eviction priority, or a pair `(L1, L2)` of priorities",
    note = "a cache operator and an eviction priority are alternatives, and a pair has one priority for each level"
)]
pub trait Caching: Copy + 'static + sealed::Sealed {
    /// A number of its own, for `match`.
    #[doc(hidden)]
    const ID: u8;
    #[doc(hidden)]
    type Sm: target::Sm;
    #[doc(hidden)]
    type Isa: target::Isa;
}

/// An L1 eviction priority.
pub trait L1Priority: Caching {}

/// An L2 eviction priority.
pub trait L2Priority: Caching {}

/// `Self` may stand on an instruction that moves a `T`.
#[doc(hidden)]
pub trait Suits<T> {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! caching {
    ($($(#[$doc:meta])* $name:ident $text:literal $id:literal $sm:ident $ptx:ident $kind:ident;)*) => {
        $(
            $(#[$doc])*
            #[doc = ""]
            #[doc = concat!("PTX: `", $text, "`. Needs ", stringify!($sm), " and ", stringify!($ptx), ".")]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $name;

            impl sealed::Sealed for $name {}
            #[diagnostic::do_not_recommend]
            impl Caching for $name {
                const ID: u8 = $id;
                type Sm = $sm;
                type Isa = $ptx;
            }
            caching! { @$kind $name }
        )*

        /// The PTX of a caching qualifier, as a literal for `concat!`.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __caching_text {
            $(($name) => { $text };)*
            (($a:ident, $b:ident)) => { concat!(__caching_text!($a), __caching_text!($b)) };
        }
    };
    (@any $name:ident) => { impl<T> Suits<T> for $name {} };
    (@l1 $name:ident) => {
        impl L1Priority for $name {}
        caching! { @any $name }
    };
    (@l2 $name:ident) => {
        impl L2Priority for $name {}
        impl<T: Wide> Suits<T> for $name {}
    };
}

caching! {
    /// Nothing is said about caching.
    NoHint "" 0 sm_20 ptx20 any;

    /// Cache at all levels, likely to be accessed again. Not the same as saying nothing: on many GPUs
    /// `ld.global.ca` is a strong load at the scope of the SM.
    Ca ".ca" 1 sm_20 ptx20 any;
    /// Cache at the global level: in L2, past L1.
    Cg ".cg" 2 sm_20 ptx20 any;
    /// Cache streaming: likely to be accessed once, evicted first.
    Cs ".cs" 3 sm_20 ptx20 any;
    /// Last use: the line will not be used again.
    Lu ".lu" 4 sm_20 ptx20 any;
    /// Do not cache, fetch again.
    Cv ".cv" 5 sm_20 ptx20 any;
    /// Write back at all coherent levels.
    Wb ".wb" 6 sm_20 ptx20 any;
    /// Write through to system memory.
    Wt ".wt" 7 sm_20 ptx20 any;

    /// L1: the normal eviction priority.
    EvictNormal ".L1::evict_normal" 16 sm_70 ptx74 l1;
    /// L1: leave the line's eviction priority as it is.
    EvictUnchanged ".L1::evict_unchanged" 32 sm_70 ptx74 l1;
    /// L1: first to be evicted. For data that streams by.
    EvictFirst ".L1::evict_first" 48 sm_70 ptx74 l1;
    /// L1: last to be evicted. For data that will be used again.
    EvictLast ".L1::evict_last" 64 sm_70 ptx74 l1;
    /// L1: do not allocate a line.
    NoAllocate ".L1::no_allocate" 80 sm_70 ptx74 l1;

    /// L2: the normal eviction priority.
    L2EvictNormal ".L2::evict_normal" 8 sm_100 ptx88 l2;
    /// L2: first to be evicted.
    L2EvictFirst ".L2::evict_first" 9 sm_100 ptx88 l2;
    /// L2: last to be evicted.
    L2EvictLast ".L2::evict_last" 10 sm_100 ptx88 l2;
}

impl<A: L1Priority, B: L2Priority> sealed::Sealed for (A, B) {}
#[diagnostic::do_not_recommend]
impl<A: L1Priority, B: L2Priority> Caching for (A, B) {
    const ID: u8 = A::ID + B::ID;
    type Sm = B::Sm;
    type Isa = B::Isa;
}
impl<A: L1Priority, B: L2Priority, T: Wide> Suits<T> for (A, B) {}

/// Calls `$callback! { $args narrow [rows] wide [rows] }` with a row `marker opcode effect;` for every caching
/// qualifier of an instruction: none and the priorities after `$plain`, the operators between `$before` and `$after`.
/// The wide rows, for 256-bit types, are the narrow ones and those with an L2 priority.
macro_rules! caching_rows {
    ($callback:ident $args:tt $plain:literal $effect:ident
        $before:literal [$($operator:ident $operator_effect:ident),*] $after:literal) => {
        caching_rows! { @l2 $callback $args $plain $effect [
            NoHint [$plain] $effect;
            $($operator [$before, __caching_text!($operator), $after] $operator_effect;)*
            EvictNormal [$plain, __caching_text!(EvictNormal)] $effect;
            EvictUnchanged [$plain, __caching_text!(EvictUnchanged)] $effect;
            EvictFirst [$plain, __caching_text!(EvictFirst)] $effect;
            EvictLast [$plain, __caching_text!(EvictLast)] $effect;
            NoAllocate [$plain, __caching_text!(NoAllocate)] $effect;
        ] [
            L2EvictNormal L2EvictFirst L2EvictLast
            (EvictNormal, L2EvictNormal) (EvictNormal, L2EvictFirst) (EvictNormal, L2EvictLast)
            (EvictUnchanged, L2EvictNormal) (EvictUnchanged, L2EvictFirst) (EvictUnchanged, L2EvictLast)
            (EvictFirst, L2EvictNormal) (EvictFirst, L2EvictFirst) (EvictFirst, L2EvictLast)
            (EvictLast, L2EvictNormal) (EvictLast, L2EvictFirst) (EvictLast, L2EvictLast)
            (NoAllocate, L2EvictNormal) (NoAllocate, L2EvictFirst) (NoAllocate, L2EvictLast)
        ] }
    };
    (@l2 $callback:ident $args:tt $plain:literal $effect:ident [$($narrow:tt)*] [$($l2:tt)*]) => {
        $callback! { $args
            narrow [$($narrow)*]
            wide [$($narrow)* $($l2 [$plain, __caching_text!($l2)] $effect;)*]
        }
    };
}
