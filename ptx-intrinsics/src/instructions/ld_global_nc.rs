//! `ld.global.nc`: load from global memory through the non-coherent, read-only cache.

use core::marker::PhantomData;

use crate::isa::caching::{Caching, NoHint};
use crate::isa::gate::{NonCoherent, OnTarget};
use crate::isa::order::Coherent;
use crate::isa::prefetch_size::{NoPrefetch, PrefetchSize};
use crate::isa::space::GlobalNc;

/// `ld.global.nc` with its caching qualifier `C` and prefetch size `P`: an access policy, zero bytes in size.
///
/// Made by [`ld_global_nc`]; it can be a `const`: an access policy with a name.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is loaded before `read`"]
pub struct LdGlobalNc<C = NoHint, P = NoPrefetch>(PhantomData<(C, P)>);

/// A caching qualifier that `ld.global.nc` takes: `NoHint`, `Ca`, `Cg`, `Cs`, the L1 eviction priorities, and for
/// 256-bit types the L2 ones and the pairs `(L1, L2)`.
#[diagnostic::on_unimplemented(
    message = "`ld.global.nc` does not take the caching qualifier `{Self}`",
    label = "not a spelling of `ld.global.nc`",
    note = "it takes one of: `NoHint`; an operator `Ca`, `Cg`, `Cs`; an L1 priority; for 256-bit types an L2 priority or a pair `(L1, L2)`",
    note = "an instruction has a cache operator or an eviction priority, not both"
)]
pub trait LdGlobalNcCaching: Caching {}

/// A load through the read-only path: `ld.global{.cop}.nc{.L1::…}{.L2::…}{.L2::cache_hint}{.L2::…B}{.vec}.type`.
///
/// ```
/// use ptx_intrinsics::prelude::*;
///
/// const WEIGHTS: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();
/// let weight = 1.5f32;
/// // ld.global.nc.L1::evict_last.L2::256B.f32
/// let w = unsafe { WEIGHTS.read(&weight) };
/// assert_eq!(w, 1.5);
/// ```
///
#[doc = concat!(needs!(NonCoherent), " Some qualifiers and types need more, and say so themselves.")]
///
/// PTX ISA: [ld.global.nc](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld-global-nc).
#[doc(alias = "ld.global.nc")]
#[inline(always)]
pub const fn ld_global_nc<NoHintOrCaching, NoPrefetchOrSize>() -> LdGlobalNc<NoHintOrCaching, NoPrefetchOrSize>
where
    NoHintOrCaching: LdGlobalNcCaching<Gate: OnTarget<NoHintOrCaching>>,
    NoPrefetchOrSize: PrefetchSize<Gate: OnTarget<NoPrefetchOrSize>>,
    NonCoherent: OnTarget<LdGlobalNc, NoHintOrCaching>,
{
    LdGlobalNc(PhantomData)
}

load_methods! { LdGlobalNc of GlobalNc, "ld.global{.cop}.nc"
    "`p` is the address of a `T` in global memory, aligned to the size of `T`, that nothing writes while the kernel \
     runs: the cache is not coherent, and a load of memory that this kernel writes, in this thread or another, is \
     undefined behaviour."
}

caching_rows! { impl_load GlobalNc, legal: LdGlobalNcCaching,
    hints: "ld.global.nc" pure,
    operators: "ld.global" [Ca pure, Cg pure, Cs pure] ".nc"
}

macro_rules! refused {
    ($($method:ident $([$scope:ident])?)*) => {
        /// The methods that other loads have. They say what to write instead.
        impl<C, P> LdGlobalNc<C, P> { $(
            #[doc(hidden)]
            #[inline]
            pub const fn $method$(<$scope>)?(self) -> Self
            where
                Self: Coherent,
            {
                self
            }
        )* }
    };
}
refused! { volatile relaxed [CtaClusterGpuOrSys] acquire [CtaClusterGpuOrSys] mmio }
