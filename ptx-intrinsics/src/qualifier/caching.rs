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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a caching qualifier",
    note = "use `NoHint`, a cache operator, an L1 or an L2 eviction priority, or a pair `(L1, L2)` of priorities"
)]
pub trait Suits<T>: Caching {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! caching {
    ($($kind:ident { $($(#[$doc:meta])* $name:ident $text:literal $id:literal $sm:ident $ptx:ident;)* })*) => {
        $($(
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
        )*)*

        /// The PTX of a caching qualifier, as a literal for `concat!`.
        macro_rules! __caching_text {
            $($(($name) => { $text };)*)*
        }

        /// Calls `$callback! { @$next $args any [marker text …] l1 [marker text …] l2 [marker text …] }`.
        macro_rules! for_each_caching {
            ($callback:ident $next:ident $args:tt) => { $callback! { @$next $args $($kind [$($name $text)*])* } };
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
    any {
        /// Nothing is said about caching.
        NoHint "" 0 sm_20 ptx20;

        /// Cache at all levels, likely to be accessed again. Not the same as saying nothing: on many GPUs
        /// `ld.global.ca` is a strong load at the scope of the SM.
        Ca ".ca" 1 sm_20 ptx20;
        /// Cache at the global level: in L2, past L1.
        Cg ".cg" 2 sm_20 ptx20;
        /// Cache streaming: likely to be accessed once, evicted first.
        Cs ".cs" 3 sm_20 ptx20;
        /// Last use: the line will not be used again.
        Lu ".lu" 4 sm_20 ptx20;
        /// Do not cache, fetch again.
        Cv ".cv" 5 sm_20 ptx20;
        /// Write back at all coherent levels.
        Wb ".wb" 6 sm_20 ptx20;
        /// Write through to system memory.
        Wt ".wt" 7 sm_20 ptx20;
    }
    l1 {
        /// L1: the normal eviction priority.
        #[doc(alias = "L1::evict_normal")]
        EvictNormal ".L1::evict_normal" 16 sm_70 ptx74;
        /// L1: leave the line's eviction priority as it is.
        #[doc(alias = "L1::evict_unchanged")]
        EvictUnchanged ".L1::evict_unchanged" 32 sm_70 ptx74;
        /// L1: first to be evicted. For data that streams by.
        #[doc(alias = "L1::evict_first")]
        EvictFirst ".L1::evict_first" 48 sm_70 ptx74;
        /// L1: last to be evicted. For data that will be used again.
        #[doc(alias = "L1::evict_last")]
        EvictLast ".L1::evict_last" 64 sm_70 ptx74;
        /// L1: do not allocate a line.
        #[doc(alias = "L1::no_allocate")]
        NoAllocate ".L1::no_allocate" 80 sm_70 ptx74;
    }
    l2 {
        /// L2: the normal eviction priority.
        #[doc(alias = "L2::evict_normal")]
        L2EvictNormal ".L2::evict_normal" 8 sm_100 ptx88;
        /// L2: first to be evicted.
        #[doc(alias = "L2::evict_first")]
        L2EvictFirst ".L2::evict_first" 9 sm_100 ptx88;
        /// L2: last to be evicted.
        #[doc(alias = "L2::evict_last")]
        L2EvictLast ".L2::evict_last" 10 sm_100 ptx88;
    }
}

impl<A: L1Priority, B: L2Priority> sealed::Sealed for (A, B) {}
#[diagnostic::do_not_recommend]
impl<A: L1Priority, B: L2Priority> Caching for (A, B) {
    const ID: u8 = A::ID + B::ID;
    type Sm = B::Sm;
    type Isa = B::Isa;
}

/// Each pair by itself, so that an error about another one names the pair and not a half of it.
macro_rules! suitable_pairs {
    (@pairs () any $any:tt
        l1 [$($l1:ident $l1_text:literal)*]
        l2 [$normal:ident $normal_text:literal $first:ident $first_text:literal $last:ident $last_text:literal]) => { $(
        impl<T: Wide> Suits<T> for ($l1, $normal) {}
        impl<T: Wide> Suits<T> for ($l1, $first) {}
        impl<T: Wide> Suits<T> for ($l1, $last) {}
    )* };
}
for_each_caching! { suitable_pairs pairs () }

/// Calls `$callback! { $args narrow [rows] wide [rows] }` with a row `marker [opcode] effect;` for every caching
/// qualifier of an instruction: none and the priorities after `$plain`, the operators between `$before` and `$after`.
/// The wide rows, for 256-bit types, are the narrow ones and those with an L2 priority.
macro_rules! caching_rows {
    ($callback:ident $args:tt $plain:literal $effect:ident
        $before:literal [$($operator:ident $operator_effect:ident),*] $after:literal) => {
        for_each_caching! { caching_rows rows { $callback $args $plain $effect [
            NoHint [$plain] $effect;
            $($operator [$before, __caching_text!($operator), $after] $operator_effect;)*
        ] } }
    };
    (@rows { $callback:ident $args:tt $plain:literal $effect:ident [$($other:tt)*] }
        any $any:tt
        l1 [$($l1:ident $l1_text:literal)*]
        l2 [$normal:ident $normal_text:literal $first:ident $first_text:literal $last:ident $last_text:literal]) => {
        $callback! { $args
            narrow [
                $($other)*
                $($l1 [$plain, $l1_text] $effect;)*
            ]
            wide [
                $($other)*
                $normal [$plain, $normal_text] $effect;
                $first [$plain, $first_text] $effect;
                $last [$plain, $last_text] $effect;
                $(
                    $l1 [$plain, $l1_text] $effect;
                    ($l1, $normal) [$plain, $l1_text, $normal_text] $effect;
                    ($l1, $first) [$plain, $l1_text, $first_text] $effect;
                    ($l1, $last) [$plain, $l1_text, $last_text] $effect;
                )*
            ]
        }
    };
}
