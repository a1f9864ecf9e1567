//! `barrier.cluster`: the threads of a cluster wait for each other, in two steps.

#[cfg(not(ptx_device))]
use crate::cpu::barrier;

/// What `.aligned` says, and what the caller then promises.
macro_rules! together {
    (doc aligned) => { "It is `.aligned`: all threads of a warp execute it together." };
    (doc apart) => { "It is not `.aligned`: each thread counts by itself, so it may be in a branch." };
    (promise aligned) => { "All threads of a warp come to this call together." };
    (promise apart) => { "Threads of a warp may come by different calls." };
    (at aligned) => { Some(core::panic::Location::caller()) };
    (at apart) => { None };
}

/// An arrival.
macro_rules! arrive {
    ($state:tt [$(#[$doc:meta])* $name:ident $aligned:tt $gate:ident $ptx:literal $intrinsic:literal]) => {
        gather! { @add $state
            $(#[$doc])*
            ///
            #[doc = together!(doc $aligned)]
            #[doc(alias = "barrier.cluster")]
            #[cfg_attr(not(ptx_device), track_caller)]
            unsafe fn $name() {
                ptx: $ptx;
                intrinsic: { $intrinsic() };
                needs: $gate;
                safety: concat!(
                    "All threads of the cluster that have not ended arrive, and each waits before it arrives again. ",
                    together!(promise $aligned)
                );
                cpu: barrier::arrive_at_cluster($ptx);
            }
        }
    };
}

/// An arrival that orders what was written before.
macro_rules! release {
    ($state:tt [$($row:tt)*]) => {
        arrive! { $state [
            /// Arrives at the barrier of the cluster, and does not wait: `.release`. What this thread wrote before is seen by all threads
            /// of the cluster after they have waited.
            #[doc(alias = "cluster_arrive")]
            $($row)*
        ] }
    };
}

/// An arrival that orders nothing.
macro_rules! relaxed {
    ($state:tt [$($row:tt)*]) => {
        arrive! { $state [
            /// Arrives at the barrier of the cluster, and does not wait. It orders no access: what this thread wrote before need not be
            /// seen by others after they have waited.
            #[doc(alias = "cluster_arrive_relaxed")]
            $($row)*
        ] }
    };
}

/// A wait.
macro_rules! wait {
    ($state:tt [$name:ident $aligned:tt $ptx:literal $intrinsic:literal]) => {
        gather! { @add $state
            /// Waits until all threads of the cluster that have not ended have arrived: `.acquire`. What they wrote before they arrived
            /// is seen after it.
            ///
            #[doc = together!(doc $aligned)]
            #[doc(alias = "barrier.cluster")]
            #[doc(alias = "cluster_wait")]
            #[cfg_attr(not(ptx_device), track_caller)]
            unsafe fn $name() {
                ptx: $ptx;
                intrinsic: { $intrinsic() };
                needs: Clusters;
                safety: concat!("This thread has arrived, and has not waited since. ", together!(promise $aligned));
                cpu: barrier::wait_for_cluster($ptx, together!(at $aligned));
            }
        }
    };
}

gather! { SINGLES:
    instruction "barrier.cluster", isa "parallel-synchronization-and-communication-instructions-barrier-cluster", effect message, T = u8 {
        release! [barrier_cluster_arrive apart Clusters "barrier.cluster.arrive" "llvm.nvvm.barrier.cluster.arrive"]
        relaxed! [barrier_cluster_arrive_relaxed apart RelaxedArrivals
            "barrier.cluster.arrive.relaxed" "llvm.nvvm.barrier.cluster.arrive.relaxed"]
        wait! [barrier_cluster_wait apart "barrier.cluster.wait" "llvm.nvvm.barrier.cluster.wait"]
        release! [barrier_cluster_arrive_aligned aligned Clusters
            "barrier.cluster.arrive.aligned" "llvm.nvvm.barrier.cluster.arrive.aligned"]
        relaxed! [barrier_cluster_arrive_relaxed_aligned aligned RelaxedArrivals
            "barrier.cluster.arrive.relaxed.aligned" "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned"]
        wait! [barrier_cluster_wait_aligned aligned "barrier.cluster.wait.aligned" "llvm.nvvm.barrier.cluster.wait.aligned"]
    }
}
