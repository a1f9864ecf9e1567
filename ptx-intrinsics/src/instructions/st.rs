//! `st`: store to global memory with its hints, and to every state space in every order.

use core::marker::PhantomData;

use crate::emit::access::{Store, StoreIn, StoreInIf};
use crate::emit::registers::same_bits;
use crate::instructions::bounds::{GlobalElement, StoreTo};
use crate::isa::caching::*;
use crate::isa::gate::*;
use crate::isa::order::*;
use crate::isa::policy::CachePolicy;
#[cfg(not(feature = "l2-combinations"))]
use crate::isa::policy::PolicyUnderCondition;
use crate::isa::space::*;

/// `st.global` with its caching qualifier `C`: an access policy, zero bytes in size.
///
/// Made by [`st_global`]; it can be a `const`: an access policy with a name.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is stored before `write`"]
pub struct StGlobal<C = NoHint>(PhantomData<C>);

/// A caching qualifier that `st.global` takes: `NoHint`, `Wb`, `Cg`, `Cs`, `Wt`, the L1 eviction priorities, and for
/// 256-bit types the L2 ones and the pairs `(L1, L2)`.
#[diagnostic::on_unimplemented(
    message = "`st.global` does not take the caching qualifier `{Self}`",
    label = "not a spelling of `st.global`",
    note = "it takes one of: `NoHint`; an operator `Wb`, `Cg`, `Cs`, `Wt`; an L1 priority; for 256-bit types an L2 priority or a pair `(L1, L2)`",
    note = "an instruction has a cache operator or an eviction priority, not both"
)]
pub trait StGlobalCaching: Caching {}

/// A weak store to global memory: `st.global{.cop}{.L1::…}{.L2::…}{.L2::cache_hint}{.vec}.type`.
///
#[doc = concat!(needs!(Always), " Some qualifiers and types need more, and say so themselves.")]
///
/// PTX ISA: [st](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st).
#[doc(alias = "st.global")]
#[inline(always)]
pub const fn st_global<NoHintOrCaching>() -> StGlobal<NoHintOrCaching>
where
    NoHintOrCaching: StGlobalCaching<Gate: OnTarget<NoHintOrCaching>>,
{
    StGlobal(PhantomData)
}

impl<C> StGlobal<C> {
    /// Writes `value` to `p`: `st.global….type [p], value;`.
    ///
    /// # Safety
    /// `p` is the address of a `T` in global memory, aligned to the size of `T`, that no other thread reads or writes at the same time: the
    /// store is weak.
    #[inline(always)]
    pub unsafe fn write<T>(self, p: *mut T, value: T)
    where
        C: Suits<T>,
        T: GlobalElement,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store::<C>(p as *mut T::Ptx, same_bits(value)) }
    }

    /// Writes `value` to `p` under a cache policy: `st.global….L2::cache_hint.type [p], value, policy;`.
    ///
    #[doc = needs!(CacheHint)]
    ///
    /// # Safety
    /// As for [`write`](Self::write).
    #[inline(always)]
    pub unsafe fn write_with<T>(self, p: *mut T, value: T, policy: CachePolicy)
    where
        C: Suits<T> + Combines,
        T: GlobalElement,
        CacheHint: OnTarget<CachePolicy, T>,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store_with::<C>(p as *mut T::Ptx, same_bits(value), policy) }
    }

    /// Writes `value` to `p` where `cond` is true: `@cond st.global….type [p], value;`.
    ///
    /// If `cond` is false, the address is not accessed and may be anything.
    ///
    /// # Safety
    /// If `cond` is true, as for [`write`](Self::write).
    #[inline(always)]
    pub unsafe fn write_if<T>(self, cond: bool, p: *mut T, value: T)
    where
        C: Suits<T> + Combines,
        T: GlobalElement,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store_if::<C>(cond, p as *mut T::Ptx, same_bits(value)) }
    }

    /// [`write_if`](Self::write_if) under a cache policy, as in [`write_with`](Self::write_with).
    /// With the cargo feature `l2-combinations`.
    ///
    #[doc = needs!(CacheHint)]
    ///
    /// # Safety
    /// If `cond` is true, as for [`write`](Self::write).
    #[cfg(feature = "l2-combinations")]
    #[inline(always)]
    pub unsafe fn write_if_with<T>(self, cond: bool, p: *mut T, value: T, policy: CachePolicy)
    where
        C: Suits<T>,
        T: GlobalElement,
        CacheHint: OnTarget<CachePolicy, T>,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store_if_with::<C>(cond, p as *mut T::Ptx, same_bits(value), policy) }
    }

    /// Says which feature is missing.
    ///
    /// # Safety
    /// It cannot be called.
    #[doc(hidden)]
    #[cfg(not(feature = "l2-combinations"))]
    pub unsafe fn write_if_with<T>(self, _: bool, _: *mut T, _: T, _: CachePolicy)
    where
        C: PolicyUnderCondition,
    {
        C::never()
    }
}

caching_rows! { impl_store Global, legal: StGlobalCaching,
    hints: "st.global" memory,
    operators: "st.global" [Wb memory, Cg memory, Cs memory, Wt memory] ""
}

/// `st` to the space `S` in the order `O`: an access policy, zero bytes in size.
///
/// | Made by | Space | What `p` is |
/// | --- | --- | --- |
/// | [`st`] | any | any pointer |
/// | [`st_global`] and an order | `.global` | any pointer to global memory |
/// | [`st_shared`] | `.shared` | a pointer to shared memory of this block, generic as all Rust pointers |
/// | [`st_shared_cluster`] | `.shared::cluster` | a generic pointer to shared memory of a block in this cluster |
/// | [`st_local`] | `.local` | a pointer to this thread's own memory: to a Rust variable on the stack |
///
/// The block converts a generic pointer to the space, as for [`Ld`](crate::Ld).
///
/// Orders are methods: [`volatile`](Self::volatile), [`relaxed`](Self::relaxed), [`release`](Self::release),
/// [`mmio`](Self::mmio). Cache operators, eviction priorities, policies and sinks of these stores are written with
/// [`ptx!`](crate::ptx).
///
/// ```
/// use ptx_intrinsics::prelude::*;
/// use ptx_intrinsics::space::*;
///
/// const PUBLISH: St<Global, Release<Gpu>> = st_global::<NoHint>().release();
/// let mut flag = 0u32;
/// // st.release.gpu.global.u32
/// unsafe { PUBLISH.write(&mut flag, 1) };
/// assert_eq!(flag, 1);
/// ```
///
/// PTX ISA: [st](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st).
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is stored before `write`"]
pub struct St<S, O = Weak, C = NoHint>(PhantomData<(S, O, C)>);

macro_rules! stores {
    ($($(#[$doc:meta])* $name:ident $space:ident $ptx:literal $gate:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, "{.vec}.type [p], value;`. ", needs!($gate))]
        ///
        /// [`St`] says what `p` is, and has the orders.
        #[inline(always)]
        pub const fn $name() -> St<$space> {
            St(PhantomData)
        }
    )* };
}
stores! {
    /// A store through a generic address: the address says which space.
    st Generic "st" Always;
    /// A store to shared memory of this block.
    #[doc(alias = "st.shared")]
    st_shared Shared "st.shared" Always;
    /// A store to shared memory of a block in this cluster.
    #[doc(alias = "st.shared::cluster")]
    st_shared_cluster SharedCluster "st.shared::cluster" Clusters;
    /// A store to this thread's local memory.
    #[doc(alias = "st.local")]
    st_local Local "st.local" Always;
}

impl<S, O, C> St<S, O, C>
where
    S: Space,
    O: Order,
    C: Caching,
{
    /// Writes `value` to `p`.
    ///
    /// # Safety
    /// `p` is the address of a writable `T` in the space `S` (see [`St`]), aligned to the size of `T`. If the store is
    /// weak, no other thread reads or writes the value at the same time. A volatile, relaxed or release store is atomic
    /// towards other ordered accesses, for a vector element by element.
    #[inline(always)]
    pub unsafe fn write<T>(self, p: *mut T, value: T)
    where
        T: StoreTo<S, O>,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store_in::<(O, C)>(p as *mut T::Ptx, same_bits(value)) }
    }

    /// Writes `value` to `p` where `cond` is true: one instruction under a predicate.
    ///
    /// If `cond` is false, the address is not accessed and may be anything. For weak stores; Write ordered ones with
    /// [`ptx!`](crate::ptx): `ptx!(@cond st.release.gpu.global.u32 [p], value)`.
    ///
    /// # Safety
    /// If `cond` is true: as for [`write`](Self::write).
    #[inline(always)]
    pub unsafe fn write_if<T>(self, cond: bool, p: *mut T, value: T)
    where
        O: UnderPredicate,
        T: StoreTo<S, O>,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store_in_if(cond, p as *mut T::Ptx, same_bits(value)) }
    }

    /// Says what to write instead.
    ///
    /// # Safety
    /// It cannot be called.
    #[doc(hidden)]
    pub unsafe fn write_with<T>(self, _: *mut T, _: T, _: CachePolicy)
    where
        O: PolicyByMethod<S>,
    {
        O::never()
    }
}

order_methods! { [impl<S: Space> St<S>] (St<S, NoHint>) S, [] []
    (Release release ".release" "nothing before it moves after it."), not (acquire: AcquiredByLoads)
}
order_methods! { [impl<C: Caching> StGlobal<C>] (St<Global, C>) C, [C: Unhinted,] [C: OrderedCaching,]
    (Release release ".release" "nothing before it moves after it."), not (acquire: AcquiredByLoads)
}

#[cfg(ptx_device)]
space_rows! { impl_store_in impl_store_in_if "st", [Release ".release"]:
    Generic "", all types, pointer, [weak memory, volatile, mmio, ordered NoHint ""];
    Global ".global", all types, pointer, [volatile, mmio, ordered NoHint "", ordered NoAllocate ".L1::no_allocate"];
    Shared ".shared", narrow types, cvta ".shared", [weak memory, volatile, ordered NoHint ""];
    SharedCluster ".shared::cluster", narrow types, cvta ".shared::cluster", [weak memory, volatile, ordered NoHint ""];
    Local ".local", narrow types, cvta ".local", [weak memory, volatile];
}
