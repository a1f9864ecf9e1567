//! The loads by the names that CUDA C++ gives them: `__ldg` is [`ldg`], `__ldcg` is [`ldcg`], and so on.

use crate::element::*;
use crate::ld::LdGlobal;
use crate::ld_global_nc::LdGlobalNc;
use crate::qualifier::caching::*;
use crate::qualifier::prefetch_size::NoPrefetch;
use crate::qualifier::target::*;
use crate::spell::{Load, same_bits};

macro_rules! cuda_names {
    ($($(#[$doc:meta])* $name:ident $function:ident $instruction:ident $caching:ident $ptx:literal $gate:ident $isa:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, ".type d, [p];`, `", stringify!($function), "::<", stringify!($caching), ", NoPrefetch>().read(p)`. Needs ", stringify!($gate), " and ", stringify!($isa), ".")]
        ///
        /// # Safety
        #[doc = concat!("As for [`", stringify!($instruction), "::read`].")]
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub unsafe fn $name<T>(p: *const T) -> T
        where
            T: Element<Ptx: Load<$instruction> + PtxType<Sm: HasSm<T>, Isa: HasPtx<T>>>,
            $gate: HasSm<$instruction, T>,
            $isa: HasPtx<$instruction, T>,
        {
            // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
            same_bits(unsafe { <T::Ptx as Load<$instruction>>::load::<$caching, NoPrefetch>(p as *const T::Ptx) })
        }
    )* };
}

cuda_names! {
    /// Loads through the read-only path: `__ldg`.
    ldg ld_global_nc LdGlobalNc NoHint "ld.global.nc" sm_32 ptx31;
    /// Loads and caches at all levels: `__ldca`.
    ldca ld_global LdGlobal Ca "ld.global.ca" sm_20 ptx20;
    /// Loads and caches in L2, past L1: `__ldcg`.
    ldcg ld_global LdGlobal Cg "ld.global.cg" sm_20 ptx20;
    /// Loads what is used once, first to be evicted: `__ldcs`.
    ldcs ld_global LdGlobal Cs "ld.global.cs" sm_20 ptx20;
    /// Loads for the last time: `__ldlu`.
    ldlu ld_global LdGlobal Lu "ld.global.lu" sm_20 ptx20;
    /// Loads afresh, past every cache: `__ldcv`.
    ldcv ld_global LdGlobal Cv "ld.global.cv" sm_20 ptx20;
}
