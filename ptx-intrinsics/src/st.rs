//! `st.global`: store to global memory.

use core::marker::PhantomData;

#[cfg(not(target_arch = "nvptx64"))]
use crate::catalogue::{Instruction, Operation};
use crate::element::*;
use crate::qualifier::caching::*;
use crate::qualifier::policy::CachePolicy;
use crate::qualifier::target::*;
use crate::spell::*;

/// `st.global` with its caching qualifier `C`: an access policy, zero bytes in size.
///
/// Made by [`st_global`]; it can stand in a `const`, as a policy with a name.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is stored before `write`"]
pub struct StGlobal<C = NoHint>(PhantomData<C>);

/// A caching qualifier that `st.global` takes: `NoHint`, `Wb`, `Cg`, `Cs`, `Wt`, the L1 eviction priorities, and for
/// 256-bit types the L2 ones and the pairs `(L1, L2)`.
#[diagnostic::on_unimplemented(
    message = "`st.global` does not take the caching qualifier `{Self}`",
    label = "not a spelling of `st.global`",
    note = "it takes one of: `NoHint`; an operator `Wb`, `Cg`, `Cs`, `Wt`; an L1 priority; for 256-bit types an L2 priority or a pair `(L1, L2)`",
    note = "a cache operator and an eviction priority are alternatives: an instruction has one or the other"
)]
pub trait StGlobalCaching: Caching {}

/// A weak store to global memory: `st.global{.cop}{.L1::…}{.L2::…}{.L2::cache_hint}{.vec}.type`.
///
/// Minimum target: sm_20 and PTX ISA 2.0; more for some qualifiers and types, which say so themselves.
///
/// PTX ISA: [st](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st).
#[doc(alias = "st.global")]
#[inline(always)]
pub const fn st_global<C>() -> StGlobal<C>
where
    C: StGlobalCaching<Sm: HasSm<C>, Isa: HasPtx<C>>,
{
    StGlobal(PhantomData)
}

store_methods! { StGlobal StGlobalCaching "st.global"
    "`p` is the address of a `T` in global memory, aligned to the size of `T`, that no other thread reads or writes \
     at the same time: the store is weak."
}

caching_rows! { spell { impl_store StGlobal StGlobalCaching }
    "st.global" memory
    "st.global" [Wb memory, Cg memory, Cs memory, Wt memory] ""
}

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) const TABLE: Instruction =
    Instruction::access::<sm_20, ptx20>(Operation::Store, "st.global", "st_global", NARROW, WIDE);
