//! Loads and stores by the names that CUDA C++ gives them: `__ldg` is [`ldg`], `__stcs` is [`stcs`], and so on.

use crate::emit::access::{Load, Store};
use crate::emit::registers::same_bits;
use crate::instructions::bounds::*;
use crate::instructions::ld::LdGlobal;
use crate::instructions::ld_global_nc::LdGlobalNc;
use crate::isa::caching::*;
use crate::isa::gate::*;
use crate::isa::prefetch_size::NoPrefetch;
use crate::isa::space::{Global, GlobalNc};

macro_rules! cuda_loads {
    ($($(#[$doc:meta])* $name:ident $instruction:ident of $of:ident, $caching:ident $ptx:literal $gate:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, ".type d, [p];`. ", needs!($gate), "")]
        ///
        /// # Safety
        #[doc = concat!("As for [`", stringify!($instruction), "::read`].")]
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub unsafe fn $name<T>(p: *const T) -> T
        where
            T: GlobalElement,
            $gate: OnTarget<$instruction, T>,
        {
            // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
            same_bits(unsafe { <T::Ptx as Load<$of>>::load::<$caching, NoPrefetch>(p as *const T::Ptx) })
        }
    )* };
}

macro_rules! cuda_stores {
    ($($(#[$doc:meta])* $name:ident $caching:ident $ptx:literal;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, ".type [p], value;`.")]
        ///
        /// # Safety
        /// As for [`StGlobal::write`](crate::StGlobal::write).
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub unsafe fn $name<T>(p: *mut T, value: T)
        where
            T: GlobalElement,
        {
            // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
            unsafe { T::Ptx::store::<$caching>(p as *mut T::Ptx, same_bits(value)) }
        }
    )* };
}

cuda_loads! {
    /// Loads through the read-only path: `__ldg`.
    ldg LdGlobalNc of GlobalNc, NoHint "ld.global.nc" NonCoherent;
    /// Loads and caches at all levels: `__ldca`.
    ldca LdGlobal of Global, Ca "ld.global.ca" Always;
    /// Loads and caches in L2, but not in L1: `__ldcg`.
    ldcg LdGlobal of Global, Cg "ld.global.cg" Always;
    /// Loads data that is used once, to be evicted first: `__ldcs`.
    ldcs LdGlobal of Global, Cs "ld.global.cs" Always;
    /// Loads for the last time: `__ldlu`.
    ldlu LdGlobal of Global, Lu "ld.global.lu" Always;
    /// Loads again from memory, not from a cache: `__ldcv`.
    ldcv LdGlobal of Global, Cv "ld.global.cv" Always;
}

cuda_stores! {
    /// Stores and writes back at all coherent levels: `__stwb`.
    stwb Wb "st.global.wb";
    /// Stores to L2, but not to L1: `__stcg`.
    stcg Cg "st.global.cg";
    /// Stores data that is not used soon, to be evicted first: `__stcs`.
    stcs Cs "st.global.cs";
    /// Stores through to system memory: `__stwt`.
    stwt Wt "st.global.wt";
}
