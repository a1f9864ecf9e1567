//! `ld.global`: load from global memory.

use core::marker::PhantomData;

#[cfg(not(target_arch = "nvptx64"))]
use crate::catalogue::{Instruction, Operation};
use crate::element::*;
use crate::lanes::Sinks;
use crate::qualifier::caching::*;
use crate::qualifier::policy::CachePolicy;
use crate::qualifier::prefetch_size::*;
use crate::qualifier::target::*;
use crate::spell::*;

/// `ld.global` with its caching qualifier `C` and prefetch size `P`: an access policy, zero bytes in size.
///
/// Made by [`ld_global`]; it can stand in a `const`, as a policy with a name.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is loaded before `read`"]
pub struct LdGlobal<C = NoHint, P = NoPrefetch>(PhantomData<(C, P)>);

/// A caching qualifier that `ld.global` takes: `NoHint`, `Ca`, `Cg`, `Cs`, `Lu`, `Cv`, the L1 eviction priorities,
/// and for 256-bit types the L2 ones and the pairs `(L1, L2)`.
#[diagnostic::on_unimplemented(
    message = "`ld.global` does not take the caching qualifier `{Self}`",
    label = "not a spelling of `ld.global`",
    note = "it takes one of: `NoHint`; an operator `Ca`, `Cg`, `Cs`, `Lu`, `Cv`; an L1 priority; for 256-bit types an L2 priority or a pair `(L1, L2)`",
    note = "a cache operator and an eviction priority are alternatives: an instruction has one or the other"
)]
pub trait LdGlobalCaching: Caching {}

/// A weak load from global memory: `ld.global{.cop}{.L1::…}{.L2::…}{.L2::cache_hint}{.L2::…B}{.vec}.type`.
///
/// The compiler may merge, move or drop it, as any read; not with `Lu` and `Cv`, which stay where they are.
///
/// Minimum target: sm_20 and PTX ISA 2.0; more for some qualifiers and types, which say so themselves.
///
/// PTX ISA: [ld](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld).
#[doc(alias = "ld.global")]
#[inline(always)]
pub const fn ld_global<C, P>() -> LdGlobal<C, P>
where
    C: LdGlobalCaching<Sm: HasSm<C>, Isa: HasPtx<C>>,
    P: PrefetchSize<Sm: HasSm<P>, Isa: HasPtx<P>>,
{
    LdGlobal(PhantomData)
}

load_methods! { LdGlobal LdGlobalCaching "ld.global"
    "`p` is the address of an initialised `T` in global memory, aligned to the size of `T`, that no other thread \
     writes at the same time: the load is weak."
}

caching_rows! { spell { impl_load LdGlobal LdGlobalCaching }
    "ld.global" pure
    "ld.global" [Ca pure, Cg pure, Cs pure, Lu memory, Cv memory] ""
}

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) const TABLE: Instruction =
    Instruction::access::<sm_20, ptx20>(Operation::Load, "ld.global", "ld_global", NARROW, WIDE);
