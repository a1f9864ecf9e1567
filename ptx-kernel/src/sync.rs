//! Barriers: of a block, a warp, a cluster.
//!
//! They are LLVM's own intrinsics, of which the compiler knows that all threads have to come along: since 1.97 it does not copy
//! them into branches. Of `asm!` it does not know that.

use ptx_intrinsics::gate::{Clusters, OnTarget};

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
    fn barrier_cluster_arrive_aligned();
    #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
    fn barrier_cluster_wait_aligned();
}

#[cfg(not(target_arch = "nvptx64"))]
use std::panic::Location;

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu::{At, Barrier, wait};

/// Waits until all threads of the block have come here. What they wrote before is seen by all of them after it.
///
/// PTX: `bar.sync 0;` (`barrier.sync.aligned`).
///
/// # Safety
/// All threads of the block that have not ended come here: the barrier is not in a branch that only some of them take.
#[doc(alias = "__syncthreads")]
#[doc(alias = "bar.sync")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn sync_threads() {
    cfg_if::cfg_if! {
        if #[cfg(not(target_arch = "nvptx64"))] {
            crate::cpu::meet("sync_threads", None);
        } else if #[cfg(feature = "rust-cuda")] {
            cuda_std::thread::sync_threads();
        } else {
            // SAFETY: the caller's promise.
            unsafe { ptx_intrinsics::bar_sync(0) }
        }
    }
}

/// Waits until all threads of the warp have come here. What they wrote before is seen by all of them after it.
///
/// PTX: `bar.warp.sync -1;`. Needs sm_30 and ptx60.
///
/// # Safety
/// All threads of the warp that have not ended come here.
#[doc(alias = "__syncwarp")]
#[doc(alias = "bar.warp.sync")]
#[inline(always)]
pub unsafe fn sync_warp() {
    // SAFETY: the caller's promise.
    unsafe { crate::Lanes::<32>::of_warp().sync() }
}

gated! { sync_cluster }

/// Waits until all threads of all blocks of the cluster have come here. What they wrote before is seen by all of them after
/// it.
///
/// PTX: `barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;`. Needs sm_90 and ptx78.
///
/// # Safety
/// All threads of the cluster that have not ended come here.
#[doc(alias = "barrier.cluster")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn sync_cluster()
where
    for<'a> Clusters: OnTarget<sync_cluster, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        barrier_cluster_arrive_aligned();
        barrier_cluster_wait_aligned();
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let place = crate::cpu::place();
        place.arrive_at_cluster("sync_cluster");
        place.wait_for_cluster("sync_cluster", Some(Location::caller()));
    }
}

/// Lets others go on: for the body of a loop that waits for what another thread writes. On a GPU nothing is to be done; on
/// a CPU, where the threads of a block take turns, such a loop would never end without it: a thread that looks at the same for five
/// seconds by `ptx!`, an order, an atomic or a barrier panics, and says so.
#[inline(always)]
pub fn pause() {
    #[cfg(not(target_arch = "nvptx64"))]
    wait(Barrier::Turn, At::Named("pause"));
}
