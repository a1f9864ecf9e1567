//! Loads and stores by the names that CUDA C++ gives them: `__ldg` is [`ldg`], `__stcs` is [`stcs`], and so on.

use crate::element::*;
use crate::ld::LdGlobal;
use crate::ld_global_nc::LdGlobalNc;
use crate::qualifier::caching::*;
use crate::qualifier::prefetch_size::NoPrefetch;
use crate::qualifier::target::*;
use crate::spell::{Load, Store, same_bits};
use crate::st::StGlobal;

macro_rules! cuda_loads {
    ($($(#[$doc:meta])* $name:ident $instruction:ident $caching:ident $ptx:literal $sm:ident $isa:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, ".type d, [p];`. Needs ", stringify!($sm), " and ", stringify!($isa), ".")]
        ///
        /// # Safety
        #[doc = concat!("As for [`", stringify!($instruction), "::read`].")]
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub unsafe fn $name<T>(p: *const T) -> T
        where
            T: Element<Ptx: Load<$instruction> + PtxType<Sm: HasSm<T>, Isa: HasPtx<T>>>,
            $sm: HasSm<$instruction, T>,
            $isa: HasPtx<$instruction, T>,
        {
            // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
            same_bits(unsafe { <T::Ptx as Load<$instruction>>::load::<$caching, NoPrefetch>(p as *const T::Ptx) })
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
        /// As for [`StGlobal::write`].
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub unsafe fn $name<T>(p: *mut T, value: T)
        where
            T: Element<Ptx: Store<StGlobal> + PtxType<Sm: HasSm<T>, Isa: HasPtx<T>>>,
        {
            // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
            unsafe { T::Ptx::store::<$caching>(p as *mut T::Ptx, same_bits(value)) }
        }
    )* };
}

cuda_loads! {
    /// Loads through the read-only path: `__ldg`.
    ldg LdGlobalNc NoHint "ld.global.nc" sm_32 ptx31;
    /// Loads and caches at all levels: `__ldca`.
    ldca LdGlobal Ca "ld.global.ca" sm_20 ptx20;
    /// Loads and caches in L2, past L1: `__ldcg`.
    ldcg LdGlobal Cg "ld.global.cg" sm_20 ptx20;
    /// Loads what is used once, first to be evicted: `__ldcs`.
    ldcs LdGlobal Cs "ld.global.cs" sm_20 ptx20;
    /// Loads for the last time: `__ldlu`.
    ldlu LdGlobal Lu "ld.global.lu" sm_20 ptx20;
    /// Loads afresh, past every cache: `__ldcv`.
    ldcv LdGlobal Cv "ld.global.cv" sm_20 ptx20;
}

cuda_stores! {
    /// Stores and writes back at all coherent levels: `__stwb`.
    stwb Wb "st.global.wb";
    /// Stores to L2, past L1: `__stcg`.
    stcg Cg "st.global.cg";
    /// Stores what will not be used soon, first to be evicted: `__stcs`.
    stcs Cs "st.global.cs";
    /// Stores through to system memory: `__stwt`.
    stwt Wt "st.global.wt";
}
