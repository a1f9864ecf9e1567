//! `bar` and `barrier`: the threads of a block wait for each other, at a barrier that has a number.

#[cfg(not(ptx_device))]
use crate::cpu::barrier;

/// What `.aligned` says, and what the caller then promises.
macro_rules! together {
    (doc aligned) => {
        "It is `.aligned`: all threads of a warp execute it together. `__syncthreads()` is barrier 0."
    };
    (doc apart) => { "It is not `.aligned`: each thread counts by itself, so it may be in a branch." };
    (promise aligned) => { "All threads of a warp come to this call together." };
    (promise apart) => { "Threads of a warp may come by different calls." };
    (at aligned) => { Some(core::panic::Location::caller()) };
    (at apart) => { None };
}

/// What the caller promises who says how many threads come.
macro_rules! counted {
    ($how:literal $aligned:tt) => {
        concat!(
            "`barrier` is less than 16. `threads` is a multiple of 32 and more than 0. Exactly `threads` threads come to the barrier, all ",
            $how, together!(promise $aligned)
        )
    };
}

/// A barrier of all threads, and one of some of them.
macro_rules! sync {
    ($state:tt [$aligned:tt $gate:ident $ptx:literal: $all:ident $all_of:literal, $count:ident $count_of:literal]) => {
        gather! { @add $state
            /// Waits until all threads of the block that have not ended have come to barrier `barrier`, one of 16. What they wrote
            /// before is seen by all of them after it.
            ///
            #[doc = together!(doc $aligned)]
            #[cfg_attr(not(ptx_device), track_caller)]
            unsafe fn $all(barrier: u32 as reg32) {
                ptx: $ptx, barrier;
                intrinsic: { $all_of(barrier: u32) };
                needs: $gate;
                safety: concat!("`barrier` is less than 16. All threads of the block that have not ended come to it. ", together!(promise $aligned));
                cpu: { barrier::come($ptx, together!(at $aligned), barrier, None, None); };
            }

            /// Waits until `threads` threads of the block have come to barrier `barrier`, one of 16: those that wait there, and those
            /// that only arrive. What they wrote before is seen by those that wait, after it.
            ///
            #[doc = together!(doc $aligned)]
            #[cfg_attr(not(ptx_device), track_caller)]
            unsafe fn $count(barrier: u32 as reg32, threads: u32 as reg32) {
                ptx: $ptx, barrier, threads;
                intrinsic: { $count_of(barrier: u32, threads: u32) };
                needs: $gate;
                safety: counted!("with the same `threads`. " $aligned);
                cpu: { barrier::come($ptx, together!(at $aligned), barrier, Some(threads), None); };
            }
        }
    };
}

/// An arrival.
macro_rules! arrive {
    ($state:tt [$aligned:tt $gate:ident $ptx:literal: $name:ident $intrinsic:literal]) => {
        gather! { @add $state
            /// Arrives at barrier `barrier`, one of 16, and does not wait. What this thread wrote before is seen by those that wait there,
            /// after it.
            ///
            #[doc = together!(doc $aligned)]
            #[cfg_attr(not(ptx_device), track_caller)]
            unsafe fn $name(barrier: u32 as reg32, threads: u32 as reg32) {
                ptx: $ptx, barrier, threads;
                intrinsic: { $intrinsic(barrier: u32, threads: u32) };
                needs: $gate;
                safety: counted!("with the same `threads`. " $aligned);
                cpu: barrier::arrive($ptx, barrier, threads);
            }
        }
    };
}

/// What a reduction finds.
macro_rules! what {
    (popc) => { "For how many `holds` is true," };
    (and) => { "Whether `holds` is true for all" };
    (or) => { "Whether `holds` is true for any" };
}

/// The same on a CPU.
#[cfg(not(ptx_device))]
macro_rules! found {
    (popc $came:expr) => { $came.count() };
    (and $came:expr) => { $came.all() };
    (or $came:expr) => { $came.any() };
}

/// A reduction over all threads.
macro_rules! red {
    ($state:tt [$(#[$alias:meta])* $operation:ident $of:ident $written:tt $aligned:tt $gate:ident $ptx:literal: $name:ident $intrinsic:literal]) => {
        gather! { @add $state
            #[doc = concat!(what!($operation), " of the threads that come to barrier `barrier`, one of 16: all of the block that have not ended. It is a barrier too:")]
            /// it waits for them, and what they wrote before is seen by all of them after it.
            ///
            #[doc = together!(doc $aligned)]
            $(#[$alias])*
            #[cfg_attr(not(ptx_device), track_caller)]
            unsafe fn $name(barrier: u32 as reg32, holds: bool as reg32) -> ($of as found: $of) {
                ptx: $ptx -> $written, barrier, "%holds";
                intrinsic: { $intrinsic(barrier: u32, holds: bool) };
                needs: $gate;
                safety: concat!(
                    "`barrier` is less than 16. All threads of the block that have not ended come to it, all by the same instruction. ",
                    together!(promise $aligned)
                );
                cpu: found!($operation barrier::come($ptx, together!(at $aligned), barrier, None, Some(holds)));
            }
        }
    };
}

/// A reduction over some threads.
macro_rules! red_count {
    ($state:tt [$(#[$alias:meta])* $operation:ident $of:ident $written:tt $aligned:tt $gate:ident $ptx:literal: $name:ident $intrinsic:literal]) => {
        gather! { @add $state
            #[doc = concat!(what!($operation), " of the `threads` threads that come to barrier `barrier`, one of 16. It is a barrier too:")]
            /// it waits for them, and what they wrote before is seen by all of them after it.
            ///
            #[doc = together!(doc $aligned)]
            $(#[$alias])*
            #[cfg_attr(not(ptx_device), track_caller)]
            unsafe fn $name(barrier: u32 as reg32, threads: u32 as reg32, holds: bool as reg32) -> ($of as found: $of) {
                ptx: $ptx -> $written, barrier, threads, "%holds";
                intrinsic: { $intrinsic(barrier: u32, threads: u32, holds: bool) };
                needs: $gate;
                safety: counted!("by the same instruction with the same `threads`. " $aligned);
                cpu: found!($operation barrier::come($ptx, together!(at $aligned), barrier, Some(threads), Some(holds)));
            }
        }
    };
}

gather! { SINGLES:
    instruction "bar", isa "parallel-synchronization-and-communication-instructions-bar", effect message, T = u8 {
        sync! [aligned Always "bar.sync":
            bar_sync "llvm.nvvm.barrier.cta.sync.aligned.all", bar_sync_count "llvm.nvvm.barrier.cta.sync.aligned.count"]
        arrive! [aligned Always "bar.arrive": bar_arrive "llvm.nvvm.barrier.cta.arrive.aligned.count"]
        red! [#[doc(alias = "__syncthreads_count")] #[doc(alias = "bar.red.popc")] popc u32 found aligned Always "bar.red.popc.u32":
            bar_red_popc "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
        red_count! [#[doc(alias = "__syncthreads_count")] #[doc(alias = "bar.red.popc")] popc u32 found aligned Always "bar.red.popc.u32":
            bar_red_popc_count "llvm.nvvm.barrier.cta.red.popc.aligned.count"]
        red! [#[doc(alias = "__syncthreads_and")] #[doc(alias = "bar.red.and")] and bool "%found" aligned Always "bar.red.and.pred":
            bar_red_and "llvm.nvvm.barrier.cta.red.and.aligned.all"]
        red_count! [#[doc(alias = "__syncthreads_and")] #[doc(alias = "bar.red.and")] and bool "%found" aligned Always "bar.red.and.pred":
            bar_red_and_count "llvm.nvvm.barrier.cta.red.and.aligned.count"]
        red! [#[doc(alias = "__syncthreads_or")] #[doc(alias = "bar.red.or")] or bool "%found" aligned Always "bar.red.or.pred":
            bar_red_or "llvm.nvvm.barrier.cta.red.or.aligned.all"]
        red_count! [#[doc(alias = "__syncthreads_or")] #[doc(alias = "bar.red.or")] or bool "%found" aligned Always "bar.red.or.pred":
            bar_red_or_count "llvm.nvvm.barrier.cta.red.or.aligned.count"]
    }
    instruction "barrier", isa "parallel-synchronization-and-communication-instructions-bar", effect message, T = u8 {
        sync! [apart Barriers "barrier.sync":
            barrier_sync "llvm.nvvm.barrier.cta.sync.all", barrier_sync_count "llvm.nvvm.barrier.cta.sync.count"]
        arrive! [apart Barriers "barrier.arrive": barrier_arrive "llvm.nvvm.barrier.cta.arrive.count"]
        red! [#[doc(alias = "__syncthreads_count")] #[doc(alias = "barrier.red.popc")] popc u32 found apart Barriers "barrier.red.popc.u32":
            barrier_red_popc "llvm.nvvm.barrier.cta.red.popc.all"]
        red_count! [#[doc(alias = "__syncthreads_count")] #[doc(alias = "barrier.red.popc")] popc u32 found apart Barriers "barrier.red.popc.u32":
            barrier_red_popc_count "llvm.nvvm.barrier.cta.red.popc.count"]
        red! [#[doc(alias = "__syncthreads_and")] #[doc(alias = "barrier.red.and")] and bool "%found" apart Barriers "barrier.red.and.pred":
            barrier_red_and "llvm.nvvm.barrier.cta.red.and.all"]
        red_count! [#[doc(alias = "__syncthreads_and")] #[doc(alias = "barrier.red.and")] and bool "%found" apart Barriers "barrier.red.and.pred":
            barrier_red_and_count "llvm.nvvm.barrier.cta.red.and.count"]
        red! [#[doc(alias = "__syncthreads_or")] #[doc(alias = "barrier.red.or")] or bool "%found" apart Barriers "barrier.red.or.pred":
            barrier_red_or "llvm.nvvm.barrier.cta.red.or.all"]
        red_count! [#[doc(alias = "__syncthreads_or")] #[doc(alias = "barrier.red.or")] or bool "%found" apart Barriers "barrier.red.or.pred":
            barrier_red_or_count "llvm.nvvm.barrier.cta.red.or.count"]
    }
}
