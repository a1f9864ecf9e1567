//! `ld`: load from global memory with its hints, and from every state space in every order.

use core::marker::PhantomData;

use crate::emit::access::{LoadIn, LoadInIf};
use crate::emit::registers::same_bits;
use crate::instructions::bounds::LoadFrom;
use crate::isa::caching::*;
use crate::isa::gate::*;
use crate::isa::order::*;
use crate::isa::policy::CachePolicy;
use crate::isa::prefetch_size::*;
use crate::isa::space::*;

/// `ld.global` with its caching qualifier `C` and prefetch size `P`: an access policy, zero bytes in size.
///
/// Made by [`ld_global`]; it can be a `const`: an access policy with a name.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is loaded before `read`"]
pub struct LdGlobal<C = NoHint, P = NoPrefetch>(PhantomData<(C, P)>);

/// A caching qualifier that `ld.global` takes: `NoHint`, `Ca`, `Cg`, `Cs`, `Lu`, `Cv`, the L1 eviction priorities,
/// and for 256-bit types the L2 ones and the pairs `(L1, L2)`.
#[diagnostic::on_unimplemented(
    message = "`ld.global` does not take the caching qualifier `{Self}`",
    label = "not a spelling of `ld.global`",
    note = "it takes one of: `NoHint`; an operator `Ca`, `Cg`, `Cs`, `Lu`, `Cv`; an L1 priority; for 256-bit types an L2 priority or a pair `(L1, L2)`",
    note = "an instruction has a cache operator or an eviction priority, not both"
)]
pub trait LdGlobalCaching: Caching {}

/// A weak load from global memory: `ld.global{.cop}{.L1::…}{.L2::…}{.L2::cache_hint}{.L2::…B}{.vec}.type`.
///
/// The compiler may merge, move or drop it, as any read; not with `Lu` and `Cv`, which stay where they are.
///
#[doc = concat!(needs!(Always), " Some qualifiers and types need more, and say so themselves.")]
///
/// PTX ISA: [ld](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld).
#[doc(alias = "ld.global")]
#[inline(always)]
pub const fn ld_global<NoHintOrCaching, NoPrefetchOrSize>() -> LdGlobal<NoHintOrCaching, NoPrefetchOrSize>
where
    NoHintOrCaching: LdGlobalCaching<Gate: OnTarget<NoHintOrCaching>>,
    NoPrefetchOrSize: PrefetchSize<Gate: OnTarget<NoPrefetchOrSize>>,
{
    LdGlobal(PhantomData)
}

load_methods! { LdGlobal of Global, "ld.global"
    "`p` is the address of an initialised `T` in global memory, aligned to the size of `T`, that no other thread \
     writes at the same time: the load is weak."
}

caching_rows! { impl_load Global, legal: LdGlobalCaching,
    hints: "ld.global" pure,
    operators: "ld.global" [Ca pure, Cg pure, Cs pure, Lu memory, Cv memory] ""
}

/// `ld` from the space `S` in the order `O`: an access policy, zero bytes in size.
///
/// | Made by | Space | What `p` is |
/// | --- | --- | --- |
/// | [`ld`] | any | any pointer |
/// | [`ld_global`] and an order | `.global` | any pointer to global memory |
/// | [`ld_shared`] | `.shared` | a pointer to shared memory of this block, generic as all Rust pointers |
/// | [`ld_shared_cluster`] | `.shared::cluster` | a generic pointer to shared memory of a block in this cluster |
/// | [`ld_const`] | `.const` | a generic pointer to a constant bank variable, as `cvta.const` gives |
/// | [`ld_local`] | `.local` | a pointer to this thread's own memory: to a Rust variable on the stack |
/// | [`ld_param_entry`] | `.param::entry` | a generic pointer to a parameter of the kernel, as `cvta.param` gives |
/// | [`ld_param_func`] | `.param::func` | a device function's parameter, as `mov.b64 p, name_param_0` gives |
///
/// The block converts a generic pointer to the space. This is not always free. For shared memory up to sm_89 the conversion
/// disappears in the access. From sm_90 on the access is one instruction too, but `ptxas` does not fold `p.add(4)` into its
/// immediate, so the sum is one more instruction. For constants, parameters and local memory a subtraction stays, shared
/// between loads of one base. [`SharedPtr`](crate::SharedPtr) needs no conversion.
///
/// Orders are methods: [`volatile`](Self::volatile), [`relaxed`](Self::relaxed), [`acquire`](Self::acquire),
/// [`mmio`](Self::mmio). Cache operators, eviction priorities, prefetch sizes, policies, `.unified` and sinks of these
/// loads are written with [`ptx!`](crate::ptx).
///
/// ```
/// use ptx_intrinsics::prelude::*;
/// use ptx_intrinsics::space::*;
///
/// const FLAG: Ld<Global, Acquire<Gpu>> = ld_global::<NoHint, NoPrefetch>().acquire();
/// let mut ready = 1u32;
/// // What others may write has no `&`.
/// let ready = &raw mut ready;
/// // ld.acquire.gpu.global.u32
/// assert_eq!(unsafe { FLAG.read(ready) }, 1);
/// // ld.volatile.shared.u32
/// assert_eq!(unsafe { ld_shared().volatile().read(ready) }, 1);
/// ```
///
/// PTX ISA: [ld](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld).
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is loaded before `read`"]
pub struct Ld<S, O = Weak, C = NoHint>(PhantomData<(S, O, C)>);

macro_rules! loads {
    ($($(#[$doc:meta])* $name:ident $space:ident $ptx:literal $gate:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, "{.vec}.type d, [p];`. ", needs!($gate))]
        ///
        /// [`Ld`] says what `p` is, and has the orders.
        #[inline(always)]
        pub const fn $name() -> Ld<$space> {
            Ld(PhantomData)
        }
    )* };
}
loads! {
    /// A load through a generic address: the address says which space.
    ld Generic "ld" Always;
    /// A load from shared memory of this block.
    #[doc(alias = "ld.shared")]
    ld_shared Shared "ld.shared" Always;
    /// A load from shared memory of a block in this cluster.
    #[doc(alias = "ld.shared::cluster")]
    ld_shared_cluster SharedCluster "ld.shared::cluster" Clusters;
    /// A load from the constant bank.
    #[doc(alias = "ld.const")]
    ld_const Const "ld.const" Always;
    /// A load from this thread's local memory.
    #[doc(alias = "ld.local")]
    ld_local Local "ld.local" Always;
    /// A load of a kernel parameter.
    #[doc(alias = "ld.param::entry")]
    ld_param_entry ParamEntry "ld.param::entry" EntryParams;
    /// A load of a device function's parameter. It must be in a function that is not inlined into a kernel:
    /// `ptxas` refuses it there.
    #[doc(alias = "ld.param::func")]
    ld_param_func ParamFunc "ld.param::func" FuncParams;
}

impl<S, O, C> Ld<S, O, C>
where
    S: Space,
    O: Order,
    C: Caching,
{
    /// Reads the value at `p`.
    ///
    /// A weak load may be merged, moved or dropped, as any read; one with an order stays where it is.
    ///
    /// # Safety
    /// `p` is the address of an initialised `T` in the space `S` (see [`Ld`]), aligned to the size of `T`. If the load is
    /// weak, no other thread writes the value at the same time. A volatile, relaxed or acquire load is atomic towards other
    /// ordered accesses, for a vector element by element. On a CPU, `T` lies in writable memory.
    #[inline(always)]
    pub unsafe fn read<T>(self, p: *const T) -> T
    where
        T: LoadFrom<S, O>,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        same_bits(unsafe { T::Ptx::load_in::<(O, C)>(p as *const T::Ptx) })
    }

    /// Reads the value at `p` if `cond` is true, and returns `or` otherwise: one instruction under a predicate.
    ///
    /// If `cond` is false, the address is not accessed and may be anything. For weak loads; Write ordered ones with
    /// [`ptx!`](crate::ptx): `ptx!(@cond ld.acquire.gpu.global.u32 [p], else 0)`.
    ///
    /// # Safety
    /// If `cond` is true: as for [`read`](Self::read).
    #[inline(always)]
    pub unsafe fn read_if<T>(self, cond: bool, p: *const T, or: T) -> T
    where
        O: UnderPredicate,
        T: LoadFrom<S, O>,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        same_bits(unsafe { T::Ptx::load_in_if(cond, p as *const T::Ptx, same_bits(or)) })
    }

    /// Says what to write instead.
    ///
    /// # Safety
    /// It cannot be called.
    #[doc(hidden)]
    pub unsafe fn read_with<T>(self, _: *const T, _: CachePolicy) -> T
    where
        O: PolicyByMethod<S>,
    {
        O::never()
    }
}

order_methods! { [impl<S: Space> Ld<S>] (Ld<S, NoHint>) S, [] []
    (Acquire acquire ".acquire" "nothing after it moves before it."), not (release: ReleasedByStores)
}
order_methods! { [impl<C: Caching, P: PrefetchSize> LdGlobal<C, P>] (Ld<Global, C>) C, [C: Unhinted, P: Unprefetched,] [C: OrderedCaching, P: Unprefetched,]
    (Acquire acquire ".acquire" "nothing after it moves before it."), not (release: ReleasedByStores)
}

#[cfg(ptx_device)]
space_rows! { impl_load_in impl_load_in_if "ld", [Acquire ".acquire"]:
    Generic "", all types, pointer, [weak pure, volatile, mmio, ordered NoHint ""];
    Global ".global", all types, pointer, [volatile, mmio, ordered NoHint "", ordered NoAllocate ".L1::no_allocate"];
    Shared ".shared", narrow types, cvta ".shared", [weak pure, volatile, ordered NoHint ""];
    SharedCluster ".shared::cluster", narrow types, cvta ".shared::cluster", [weak pure, volatile, ordered NoHint ""];
    Const ".const", narrow types, cvta ".const", [weak pure];
    Local ".local", narrow types, cvta ".local", [weak pure, volatile];
    ParamEntry ".param::entry", narrow types, cvta ".param", [weak pure];
    ParamFunc ".param::func", narrow types, pointer, [weak pure];
}
