//! `fence` and `membar`: other threads see what a thread did before the fence, before they see what it does after it.

#[cfg(not(ptx_device))]
use core::sync::atomic::{Ordering, compiler_fence, fence};

/// A CPU's one view of memory needs nothing, but that the compiler keeps the order.
#[cfg(not(ptx_device))]
#[inline]
fn compiler() {
    compiler_fence(Ordering::SeqCst);
}

instructions! { SINGLES:
    instruction "fence", isa "parallel-synchronization-and-communication-instructions-membar-fence", effect message, T = u8 {
        /// Orders all accesses before it with all after it, and all such fences with each other: two threads that store,
        /// fence and load see one of the two stores.
        safe fn fence_sc<S in scope>() {
            ptx: "fence.sc" S;
            needs: Fences;
            cpu: fence(Ordering::SeqCst);
        }

        /// Other threads see what was read or written before it, before they see what is written after it. It is an acquire
        /// and a release at once, with the relaxed accesses around it. (`fence` without an order is this one.)
        safe fn fence_acq_rel<S in scope>() {
            ptx: "fence.acq_rel" S;
            needs: Fences;
            cpu: fence(Ordering::AcqRel);
        }

        /// No access after it happens before a read before it.
        safe fn fence_acquire<S in scope>() {
            ptx: "fence.acquire" S;
            needs: OneWayFences;
            cpu: fence(Ordering::Acquire);
        }

        /// Other threads see everything before it, before they see what is written after it.
        safe fn fence_release<S in scope>() {
            ptx: "fence.release" S;
            needs: OneWayFences;
            cpu: fence(Ordering::Release);
        }

        /// A release, for a tensor map that this thread changed in global memory and that others use.
        #[doc(alias = "tensormap::generic")]
        safe fn fence_proxy_tensormap_generic_release<S in scope>() {
            ptx: "fence.proxy.tensormap::generic.release" S;
            needs: TensorMapFences;
            cpu: fence(Ordering::Release);
        }

        /// [`fence_acquire`] among the threads of the cluster, for what lies in the cluster's shared memory.
        #[doc(alias = "fence.acquire.sync_restrict")]
        #[doc(alias = "sync_restrict::shared::cluster")]
        safe fn fence_acquire_sync_restrict_shared_cluster_cluster() {
            ptx: "fence.acquire.sync_restrict::shared::cluster.cluster";
            needs: OneWayFences;
            cpu: fence(Ordering::Acquire);
        }

        /// [`fence_release`] among the threads of the cluster, for what lies in this block's shared memory.
        #[doc(alias = "fence.release.sync_restrict")]
        #[doc(alias = "sync_restrict::shared::cta")]
        safe fn fence_release_sync_restrict_shared_cta_cluster() {
            ptx: "fence.release.sync_restrict::shared::cta.cluster";
            needs: OneWayFences;
            cpu: fence(Ordering::Release);
        }

        /// Lets the cluster see that barriers are initialised: after [`mbarrier_init`](crate::mbarrier::mbarrier_init),
        /// before another block or a copy uses the barrier.
        #[doc(alias = "fence.mbarrier_init")]
        safe fn fence_mbarrier_init_release_cluster() {
            ptx: "fence.mbarrier_init.release.cluster";
            needs: AsyncFences;
            cpu: fence(Ordering::Release);
        }

        /// Between accesses to the same memory by two addresses.
        #[doc(alias = "fence.proxy")]
        safe fn fence_proxy_alias() {
            ptx: "fence.proxy.alias";
            needs: ProxyAlias;
            cpu: compiler();
        }

        /// An acquire among the threads of all GPUs and of the host: by two addresses, after a
        /// [`fence_proxy_alias_release_sys`] of who wrote by the other one.
        safe fn fence_proxy_alias_acquire_sys() {
            ptx: "fence.proxy.alias.acquire.sys";
            needs: ReadFences;
            cpu: fence(Ordering::Acquire);
        }

        /// A release among the threads of all GPUs and of the host: what was written before it by one address is seen by
        /// another one.
        safe fn fence_proxy_alias_release_sys() {
            ptx: "fence.proxy.alias.release.sys";
            needs: ReadFences;
            cpu: fence(Ordering::Release);
        }

        /// Between plain accesses and asynchronous copies of the same memory, in any space.
        safe fn fence_proxy_async() {
            ptx: "fence.proxy.async";
            needs: AsyncFences;
            cpu: compiler();
        }

        /// Between plain accesses and asynchronous copies of the same global memory.
        safe fn fence_proxy_async_global() {
            ptx: "fence.proxy.async.global";
            needs: AsyncFences;
            cpu: compiler();
        }

        /// Between plain accesses and asynchronous copies of this block's shared memory: what was stored there is what a copy
        /// out of it takes.
        safe fn fence_proxy_async_shared_cta() {
            ptx: "fence.proxy.async.shared::cta";
            needs: AsyncFences;
            cpu: compiler();
        }

        /// Between plain accesses and asynchronous copies of the cluster's shared memory.
        safe fn fence_proxy_async_shared_cluster() {
            ptx: "fence.proxy.async.shared::cluster";
            needs: AsyncFences;
            cpu: compiler();
        }

        /// An acquire, among the threads of the cluster, between asynchronous copies before it and plain accesses after it.
        #[doc(alias = "async::generic")]
        #[doc(alias = "fence.proxy.async::generic")]
        safe fn fence_proxy_async_generic_acquire_sync_restrict_shared_cluster_cluster() {
            ptx: "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster";
            needs: OneWayFences;
            cpu: fence(Ordering::Acquire);
        }

        /// A release, among the threads of the cluster, between plain accesses before it and asynchronous copies after it.
        safe fn fence_proxy_async_generic_release_sync_restrict_shared_cta_cluster() {
            ptx: "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster";
            needs: OneWayFences;
            cpu: fence(Ordering::Release);
        }
    }

    instruction "fence", isa "parallel-synchronization-and-communication-instructions-membar-fence", effect message, T = u8 {
        /// A release of what this thread read in the cluster's shared memory, among the threads of the block: an asynchronous
        /// copy after it may write there.
        #[doc(alias = "sync_restrict::shared::cluster::read")]
        safe fn fence_proxy_async_generic_release_sync_restrict_shared_cluster_read_cta() {
            ptx: "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cta";
            needs: ReadFences;
            cpu: fence(Ordering::Release);
        }

        /// A release of what this thread read in the cluster's shared memory, among the threads of the cluster: an asynchronous
        /// copy after it may write there.
        safe fn fence_proxy_async_generic_release_sync_restrict_shared_cluster_read_cluster() {
            ptx: "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster";
            needs: ReadFences;
            cpu: fence(Ordering::Release);
        }
    }

    instruction "membar", isa "parallel-synchronization-and-communication-instructions-membar-fence", effect message, T = u8 {
        /// The old [`fence_sc`] among the threads of the block.
        #[doc(alias = "membar")]
        safe fn membar_cta() {
            ptx: "membar.cta";
            needs: Always;
            cpu: fence(Ordering::SeqCst);
        }

        /// The old [`fence_sc`] among all threads of this GPU.
        safe fn membar_gl() {
            ptx: "membar.gl";
            needs: Always;
            cpu: fence(Ordering::SeqCst);
        }

        /// The old [`fence_sc`] among all threads of all GPUs and of the host.
        safe fn membar_sys() {
            ptx: "membar.sys";
            needs: Always;
            cpu: fence(Ordering::SeqCst);
        }

        /// The old [`fence_proxy_alias`].
        safe fn membar_proxy_alias() {
            ptx: "membar.proxy.alias";
            needs: MembarProxy;
            cpu: compiler();
        }

        /// The old [`fence_proxy_async`], with the same machine code. The assemblers of CUDA 13.0 to 13.3 refuse the old one.
        safe fn membar_proxy_async() {
            ptx: "membar.proxy.async";
            needs: AsyncFences;
            cpu: compiler();
        }
    }

    instruction "fence", isa "parallel-synchronization-and-communication-instructions-membar-fence", effect message, T = u8 {
        /// Before a copy uses the tensor map at `p`, which another thread changed in global memory: an acquire of its 128
        /// bytes. The assembler of CUDA 13.0 leaves out a part of it, `UTMACMDFLUSH`.
        unsafe fn fence_proxy_tensormap_generic_acquire<S in scope>(p: *const impl Sized as reg64) {
            ptx: "fence.proxy.tensormap::generic.acquire" S, [p], 128;
            needs: TensorMapFences;
            safety: "`p` is the generic address of 128 bytes of global memory that this thread may read, aligned to 128.";
            cpu: fence(Ordering::Acquire);
        }
    }
}
