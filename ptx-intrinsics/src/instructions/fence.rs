//! `fence` and `membar`: what a thread does before is seen before what it does behind.

use crate::isa::gate::*;
use crate::isa::scope::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};
#[cfg(not(target_arch = "nvptx64"))]
use core::sync::atomic;

/// Fences of each scope: documentation, name, PTX without scope, what it needs beside its scope, the order on a CPU.
macro_rules! scoped {
    ($($(#[$doc:meta])* $name:ident $ptx:literal $gate:ident $order:ident;)*) => {
        gated! { $($name)* }

        $(
            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `", $ptx, ".scope;`. ", needs!($gate), " `.cluster` needs sm_90 and ptx78.")]
            ///
            #[doc = isa_link!("membar, fence" "parallel-synchronization-and-communication-instructions-membar-fence")]
            #[doc(alias = $ptx)]
            #[inline(always)]
            pub fn $name<S>()
            where
                S: Scope<Gate: OnTarget<S>>,
                $gate: OnTarget<$name, S>,
            {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: it only orders.
                unsafe {
                    match const { S::WORD } {
                        ScopeWord::Cta => issue! { [$ptx, ".cta;"] },
                        ScopeWord::Cluster => issue! { [$ptx, ".cluster;"] },
                        ScopeWord::Gpu => issue! { [$ptx, ".gpu;"] },
                        _ => issue! { [$ptx, ".sys;"] },
                    }
                }
                #[cfg(not(target_arch = "nvptx64"))]
                atomic::fence(atomic::Ordering::$order);
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const SCOPED: &[[Single; 4]] = &[$([
            single! { $gate "fence" concat!(stringify!($name), "::<Cta>()"), concat!($ptx, ".cta") },
            single! { @and Clusters $gate "fence" concat!(stringify!($name), "::<Cluster>()"), concat!($ptx, ".cluster"), "", "" },
            single! { $gate "fence" concat!(stringify!($name), "::<Gpu>()"), concat!($ptx, ".gpu") },
            single! { $gate "fence" concat!(stringify!($name), "::<Sys>()"), concat!($ptx, ".sys") },
        ],)*];
    };
}

/// Fences of one spelling: documentation, name, instruction, PTX, what it needs, and whether a CPU has something to order.
macro_rules! whole {
    ($($(#[$doc:meta])* $name:ident $instruction:literal $ptx:literal $gate:ident $host:ident;)*) => {
        gated! { $($name)* }

        $(
            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `", $ptx, ";`. ", needs!($gate), "")]
            ///
            #[doc = isa_link!("membar, fence" "parallel-synchronization-and-communication-instructions-membar-fence")]
            #[doc(alias = $ptx)]
            #[inline(always)]
            pub fn $name()
            where
                for<'a> $gate: OnTarget<$name, &'a ()>,
            {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: it only orders.
                unsafe {
                    issue! { [$ptx, ";"] }
                }
                #[cfg(not(target_arch = "nvptx64"))]
                $host();
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const WHOLE: &[Single] =
            &[$(single! { $gate $instruction concat!(stringify!($name), "()"), $ptx },)*];
    };
}

/// A row of the catalogue.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! single {
    ($gate:ident $instruction:literal $rust:expr, $ptx:expr) => {
        single! { @and Always $gate $instruction $rust, $ptx, "", "" }
    };
    (@and $other:ident $gate:ident $instruction:literal $rust:expr, $ptx:expr, $parameters:literal, $operands:literal) => {
        Single::new(
            $instruction,
            $rust,
            $ptx,
            Signature { parameters: $parameters, result: None, operands: $operands },
            Needs::of::<$gate>().and(Needs::of::<$other>()),
        )
    };
}

/// A CPU's one view of memory needs nothing, but that the compiler keeps the order.
#[cfg(not(target_arch = "nvptx64"))]
#[inline]
fn compiler() {
    atomic::compiler_fence(atomic::Ordering::SeqCst);
}

#[cfg(not(target_arch = "nvptx64"))]
#[inline]
fn full() {
    atomic::fence(atomic::Ordering::SeqCst);
}

#[cfg(not(target_arch = "nvptx64"))]
#[inline]
fn release() {
    atomic::fence(atomic::Ordering::Release);
}

#[cfg(not(target_arch = "nvptx64"))]
#[inline]
fn acquire() {
    atomic::fence(atomic::Ordering::Acquire);
}

scoped! {
    /// Orders all accesses before with all behind, and all such fences with each other: two threads that store, fence and
    /// load see one of the two stores.
    fence_sc "fence.sc" Fences SeqCst;

    /// What was read or written before is seen before what is written behind: an acquire and a release at once, with the
    /// relaxed accesses around it. (`fence` without an order is this one.)
    fence_acq_rel "fence.acq_rel" Fences AcqRel;

    /// Nothing behind is done before what was read before.
    fence_acquire "fence.acquire" OneWayFences Acquire;

    /// Everything before is seen before what is written behind.
    fence_release "fence.release" OneWayFences Release;

    /// Before a tensor map that was changed in global memory is used by others: a release.
    #[doc(alias = "tensormap::generic")]
    fence_proxy_tensormap_generic_release "fence.proxy.tensormap::generic.release" TensorMapFences Release;
}

whole! {
    /// [`fence_acquire`] among the threads of the cluster, for what lies in the cluster's shared memory.
    #[doc(alias = "fence.acquire.sync_restrict")]
    #[doc(alias = "sync_restrict::shared::cluster")]
    fence_acquire_sync_restrict_shared_cluster_cluster "fence" "fence.acquire.sync_restrict::shared::cluster.cluster"
        OneWayFences acquire;
    /// [`fence_release`] among the threads of the cluster, for what lies in this block's shared memory.
    #[doc(alias = "fence.release.sync_restrict")]
    #[doc(alias = "sync_restrict::shared::cta")]
    fence_release_sync_restrict_shared_cta_cluster "fence" "fence.release.sync_restrict::shared::cta.cluster"
        OneWayFences release;
    /// Lets the cluster see that barriers are initialised: behind [`mbarrier_init`](crate::mbarrier_init), before another
    /// block or a copy uses the barrier.
    #[doc(alias = "fence.mbarrier_init")]
    fence_mbarrier_init_release_cluster "fence" "fence.mbarrier_init.release.cluster" AsyncFences release;
    /// Between accesses to the same memory by two addresses.
    #[doc(alias = "fence.proxy")]
    fence_proxy_alias "fence" "fence.proxy.alias" ProxyAlias compiler;
    /// Between plain accesses and asynchronous copies of the same memory, in any space.
    fence_proxy_async "fence" "fence.proxy.async" AsyncFences compiler;
    /// Between plain accesses and asynchronous copies of the same global memory.
    fence_proxy_async_global "fence" "fence.proxy.async.global" AsyncFences compiler;
    /// Between plain accesses and asynchronous copies of this block's shared memory: what was stored there is what a copy
    /// out of it takes.
    fence_proxy_async_shared_cta "fence" "fence.proxy.async.shared::cta" AsyncFences compiler;
    /// Between plain accesses and asynchronous copies of the cluster's shared memory.
    fence_proxy_async_shared_cluster "fence" "fence.proxy.async.shared::cluster" AsyncFences compiler;
    /// An acquire, among the threads of the cluster, between asynchronous copies before and plain accesses behind.
    #[doc(alias = "async::generic")]
    #[doc(alias = "fence.proxy.async::generic")]
    fence_proxy_async_generic_acquire_sync_restrict_shared_cluster_cluster "fence"
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster" OneWayFences acquire;
    /// A release, among the threads of the cluster, between plain accesses before and asynchronous copies behind.
    fence_proxy_async_generic_release_sync_restrict_shared_cta_cluster "fence"
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster" OneWayFences release;
    /// The old [`fence_sc`] among the threads of the block.
    #[doc(alias = "membar")]
    membar_cta "membar" "membar.cta" Always full;
    /// The old [`fence_sc`] among all threads of this GPU.
    membar_gl "membar" "membar.gl" Always full;
    /// The old [`fence_sc`] among all threads of all GPUs and of the host.
    membar_sys "membar" "membar.sys" Always full;
    /// The old [`fence_proxy_alias`].
    membar_proxy_alias "membar" "membar.proxy.alias" MembarProxy compiler;
    /// The old [`fence_proxy_async`].
    membar_proxy_async "membar" "membar.proxy.async" AsyncFences compiler;
}

gated! { fence_proxy_tensormap_generic_acquire }

/// Before a copy uses the tensor map at `map`, which another thread changed in global memory: an acquire of its 128 bytes.
///
/// PTX: `fence.proxy.tensormap::generic.acquire.scope [map], 128;`. Needs sm_90 and ptx83.
///
#[doc = isa_link!("membar, fence" "parallel-synchronization-and-communication-instructions-membar-fence")]
///
/// # Safety
/// `map` is the generic address of 128 bytes of global memory that this thread may read, aligned to 128.
#[doc(alias = "fence.proxy.tensormap::generic.acquire")]
#[inline(always)]
pub unsafe fn fence_proxy_tensormap_generic_acquire<S>(map: *const impl Sized)
where
    S: Scope<Gate: OnTarget<S>>,
    TensorMapFences: OnTarget<fence_proxy_tensormap_generic_acquire, S>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        match const { S::WORD } {
            ScopeWord::Cta => {
                issue! { ["fence.proxy.tensormap::generic.acquire.cta [{map}], 128;"] map = in(reg64) map, }
            }
            ScopeWord::Cluster => {
                issue! { ["fence.proxy.tensormap::generic.acquire.cluster [{map}], 128;"] map = in(reg64) map, }
            }
            ScopeWord::Gpu => {
                issue! { ["fence.proxy.tensormap::generic.acquire.gpu [{map}], 128;"] map = in(reg64) map, }
            }
            _ => issue! { ["fence.proxy.tensormap::generic.acquire.sys [{map}], 128;"] map = in(reg64) map, },
        }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = map;
        acquire();
    }
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! tensormap {
    ($($marker:ident $gate:ident $scope:literal)*) => {
        &[$(
            single! {
                @and $gate TensorMapFences "fence"
                concat!("fence_proxy_tensormap_generic_acquire::<", stringify!($marker), ">(p)"),
                concat!("fence.proxy.tensormap::generic.acquire", $scope), "p: *const u8", "[%], 128"
            },
        )*]
    };
}

#[cfg(not(target_arch = "nvptx64"))]
const TENSORMAP: &[Single] =
    tensormap! { Cta Orders ".cta" Cluster Clusters ".cluster" Gpu Orders ".gpu" Sys Orders ".sys" };

/// Every `fence` and `membar`.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) fn singles() -> impl Iterator<Item = &'static Single> {
    SCOPED.as_flattened().iter().chain(WHOLE).chain(TENSORMAP)
}
