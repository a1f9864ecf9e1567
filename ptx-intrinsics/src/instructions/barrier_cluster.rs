//! `barrier.cluster`: the threads of a cluster wait for each other, in two steps.

#[cfg(not(ptx_device))]
use crate::cpu::barrier;

/// Each instruction, `.aligned` or not.
macro_rules! barrier_cluster {
    ($($aligned:tt $together:literal:
        $arrive:ident $arrive_ptx:literal $arrive_of:literal, $relaxed:ident $relaxed_ptx:literal $relaxed_of:literal,
        $wait:ident $wait_ptx:literal $wait_of:literal;)*) => {
        instructions! { SINGLES:
            instruction "barrier.cluster", isa "parallel-synchronization-and-communication-instructions-barrier-cluster", effect message, T = u8 { $(
                /// Arrives at the barrier of the cluster, and does not wait: `.release`. What this thread wrote before is seen by all threads
                /// of the cluster after they have waited.
                ///
                #[doc = $together]
                #[doc(alias = "barrier.cluster")]
                #[doc(alias = "cluster_arrive")]
                #[cfg_attr(not(ptx_device), track_caller)]
                unsafe fn $arrive() {
                    ptx: $arrive_ptx;
                    intrinsic: { $arrive_of() };
                    needs: Clusters;
                    safety: concat!(
                        "All threads of the cluster that have not ended arrive, and each waits before it arrives again. ",
                        barrier_cluster!(@promise $aligned)
                    );
                    cpu: barrier::arrive_at_cluster($arrive_ptx);
                }

                /// Arrives at the barrier of the cluster, and does not wait. It orders no access: what this thread wrote before need not be
                /// seen by others after they have waited.
                ///
                #[doc = $together]
                #[doc(alias = "barrier.cluster")]
                #[doc(alias = "cluster_arrive_relaxed")]
                #[cfg_attr(not(ptx_device), track_caller)]
                unsafe fn $relaxed() {
                    ptx: $relaxed_ptx;
                    intrinsic: { $relaxed_of() };
                    needs: RelaxedArrivals;
                    safety: concat!(
                        "All threads of the cluster that have not ended arrive, and each waits before it arrives again. ",
                        barrier_cluster!(@promise $aligned)
                    );
                    cpu: barrier::arrive_at_cluster($relaxed_ptx);
                }

                /// Waits until all threads of the cluster that have not ended have arrived: `.acquire`. What they wrote before they arrived
                /// is seen after it.
                ///
                #[doc = $together]
                #[doc(alias = "barrier.cluster")]
                #[doc(alias = "cluster_wait")]
                #[cfg_attr(not(ptx_device), track_caller)]
                unsafe fn $wait() {
                    ptx: $wait_ptx;
                    intrinsic: { $wait_of() };
                    needs: Clusters;
                    safety: concat!(
                        "This thread has arrived, and has not waited since. ", barrier_cluster!(@promise $aligned)
                    );
                    cpu: barrier::wait_for_cluster($wait_ptx, barrier_cluster!(@at $aligned));
                }
            )* }
        }
    };
    (@promise aligned) => { "All threads of a warp come to this call together." };
    (@promise apart) => { "Threads of a warp may come by different calls." };
    (@at aligned) => { Some(core::panic::Location::caller()) };
    (@at apart) => { None };
}
barrier_cluster! {
    apart "It is not `.aligned`: each thread counts by itself, so it may be in a branch.":
        barrier_cluster_arrive "barrier.cluster.arrive" "llvm.nvvm.barrier.cluster.arrive",
        barrier_cluster_arrive_relaxed "barrier.cluster.arrive.relaxed" "llvm.nvvm.barrier.cluster.arrive.relaxed",
        barrier_cluster_wait "barrier.cluster.wait" "llvm.nvvm.barrier.cluster.wait";
    aligned "It is `.aligned`: all threads of a warp execute it together.":
        barrier_cluster_arrive_aligned "barrier.cluster.arrive.aligned" "llvm.nvvm.barrier.cluster.arrive.aligned",
        barrier_cluster_arrive_relaxed_aligned "barrier.cluster.arrive.relaxed.aligned" "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned",
        barrier_cluster_wait_aligned "barrier.cluster.wait.aligned" "llvm.nvvm.barrier.cluster.wait.aligned";
}
