//! `bar` and `barrier`: the threads of a block wait for each other, at a barrier that has a number.

#[cfg(not(ptx_device))]
use crate::cpu::barrier;

/// Each instruction, in two ways: `bar` is `.aligned`, and `barrier` is not.
///
/// What both promise; of each the mnemonic, its functions, LLVM's intrinsics, its gate, what it promises beside.
macro_rules! barriers {
    ($($mnemonic:literal $gate:ident $aligned:tt $together:literal:
        $sync:ident $sync_ptx:literal $sync_of:literal, $sync_count:ident $sync_count_of:literal,
        $arrive:ident $arrive_ptx:literal $arrive_of:literal,
        $([$what:literal $alias:literal $short:literal $of:ident $written:tt $made:ident $red:ident $red_ptx:literal $red_of:literal, $red_count:ident $red_count_of:literal])*;)*) => {
        instructions! { SINGLES: $(
            instruction $mnemonic, isa "parallel-synchronization-and-communication-instructions-bar", effect message, T = u8 {
                /// Waits until all threads of the block that have not ended have come to barrier `barrier`, one of 16. What they wrote
                /// before is seen by all of them after it.
                ///
                #[doc = $together]
                #[cfg_attr(not(ptx_device), track_caller)]
                unsafe fn $sync(barrier: u32 as reg32) {
                    ptx: $sync_ptx, barrier;
                    intrinsic: { $sync_of(barrier: u32) };
                    needs: $gate;
                    safety: concat!("`barrier` is less than 16. All threads of the block that have not ended come to it. ", barriers!(@promise $aligned));
                    cpu: { barrier::come($sync_ptx, barriers!(@at $aligned), barrier, None, None); };
                }

                /// Waits until `threads` threads of the block have come to barrier `barrier`, one of 16: those that wait there, and those
                /// that only arrive. What they wrote before is seen by those that wait, after it.
                ///
                #[doc = $together]
                #[cfg_attr(not(ptx_device), track_caller)]
                unsafe fn $sync_count(barrier: u32 as reg32, threads: u32 as reg32) {
                    ptx: $sync_ptx, barrier, threads;
                    intrinsic: { $sync_count_of(barrier: u32, threads: u32) };
                    needs: $gate;
                    safety: concat!(barriers!(@counted "with the same `threads`. "), barriers!(@promise $aligned));
                    cpu: { barrier::come($sync_ptx, barriers!(@at $aligned), barrier, Some(threads), None); };
                }

                /// Arrives at barrier `barrier`, one of 16, and does not wait. What this thread wrote before is seen by those that wait there,
                /// after it.
                ///
                #[doc = $together]
                #[cfg_attr(not(ptx_device), track_caller)]
                unsafe fn $arrive(barrier: u32 as reg32, threads: u32 as reg32) {
                    ptx: $arrive_ptx, barrier, threads;
                    intrinsic: { $arrive_of(barrier: u32, threads: u32) };
                    needs: $gate;
                    safety: concat!(barriers!(@counted "with the same `threads`. "), barriers!(@promise $aligned));
                    cpu: barrier::arrive($arrive_ptx, barrier, threads);
                }
                $(
                    #[doc = concat!($what, " of the threads that come to barrier `barrier`, one of 16: all of the block that have not ended. It is a barrier too:")]
                    /// it waits for them, and what they wrote before is seen by all of them after it.
                    ///
                    #[doc = $together]
                    #[doc(alias = $alias)]
                    #[doc(alias = $short)]
                    #[cfg_attr(not(ptx_device), track_caller)]
                    unsafe fn $red(barrier: u32 as reg32, holds: bool as reg32) -> ($of as found: $of) {
                        ptx: $red_ptx -> $written, barrier, "%holds";
                        intrinsic: { $red_of(barrier: u32, holds: bool) };
                        needs: $gate;
                        safety: concat!(
                            "`barrier` is less than 16. All threads of the block that have not ended come to it, all by the same instruction. ",
                            barriers!(@promise $aligned)
                        );
                        cpu: barrier::come($red_ptx, barriers!(@at $aligned), barrier, None, Some(holds)).$made();
                    }

                    #[doc = concat!($what, " of the `threads` threads that come to barrier `barrier`, one of 16. It is a barrier too:")]
                    /// it waits for them, and what they wrote before is seen by all of them after it.
                    ///
                    #[doc = $together]
                    #[doc(alias = $alias)]
                    #[doc(alias = $short)]
                    #[cfg_attr(not(ptx_device), track_caller)]
                    unsafe fn $red_count(barrier: u32 as reg32, threads: u32 as reg32, holds: bool as reg32) -> ($of as found: $of) {
                        ptx: $red_ptx -> $written, barrier, threads, "%holds";
                        intrinsic: { $red_count_of(barrier: u32, threads: u32, holds: bool) };
                        needs: $gate;
                        safety: concat!(
                            barriers!(@counted "by the same instruction with the same `threads`. "), barriers!(@promise $aligned)
                        );
                        cpu: barrier::come($red_ptx, barriers!(@at $aligned), barrier, Some(threads), Some(holds)).$made();
                    }
                )*
            }
        )* }
    };
    (@counted $how:literal) => {
        concat!(
            "`barrier` is less than 16. `threads` is a multiple of 32 and more than 0. Exactly `threads` threads come to the barrier, all ", $how
        )
    };
    (@promise aligned) => { "All threads of a warp come to this call together." };
    (@promise apart) => { "Threads of a warp may come by different calls." };
    (@at aligned) => { Some(core::panic::Location::caller()) };
    (@at apart) => { None };
}
barriers! {
    "bar" Always aligned "It is `.aligned`: all threads of a warp execute it together. `__syncthreads()` is barrier 0.":
        bar_sync "bar.sync" "llvm.nvvm.barrier.cta.sync.aligned.all", bar_sync_count "llvm.nvvm.barrier.cta.sync.aligned.count",
        bar_arrive "bar.arrive" "llvm.nvvm.barrier.cta.arrive.aligned.count",
        ["For how many `holds` is true," "__syncthreads_count" "bar.red.popc" u32 found count bar_red_popc "bar.red.popc.u32"
            "llvm.nvvm.barrier.cta.red.popc.aligned.all", bar_red_popc_count "llvm.nvvm.barrier.cta.red.popc.aligned.count"]
        ["Whether `holds` is true for all" "__syncthreads_and" "bar.red.and" bool "%found" all bar_red_and "bar.red.and.pred"
            "llvm.nvvm.barrier.cta.red.and.aligned.all", bar_red_and_count "llvm.nvvm.barrier.cta.red.and.aligned.count"]
        ["Whether `holds` is true for any" "__syncthreads_or" "bar.red.or" bool "%found" any bar_red_or "bar.red.or.pred"
            "llvm.nvvm.barrier.cta.red.or.aligned.all", bar_red_or_count "llvm.nvvm.barrier.cta.red.or.aligned.count"];
    "barrier" Barriers apart "It is not `.aligned`: each thread counts by itself, so it may be in a branch.":
        barrier_sync "barrier.sync" "llvm.nvvm.barrier.cta.sync.all", barrier_sync_count "llvm.nvvm.barrier.cta.sync.count",
        barrier_arrive "barrier.arrive" "llvm.nvvm.barrier.cta.arrive.count",
        ["For how many `holds` is true," "__syncthreads_count" "barrier.red.popc" u32 found count barrier_red_popc "barrier.red.popc.u32"
            "llvm.nvvm.barrier.cta.red.popc.all", barrier_red_popc_count "llvm.nvvm.barrier.cta.red.popc.count"]
        ["Whether `holds` is true for all" "__syncthreads_and" "barrier.red.and" bool "%found" all barrier_red_and "barrier.red.and.pred"
            "llvm.nvvm.barrier.cta.red.and.all", barrier_red_and_count "llvm.nvvm.barrier.cta.red.and.count"]
        ["Whether `holds` is true for any" "__syncthreads_or" "barrier.red.or" bool "%found" any barrier_red_or "barrier.red.or.pred"
            "llvm.nvvm.barrier.cta.red.or.all", barrier_red_or_count "llvm.nvvm.barrier.cta.red.or.count"];
}
