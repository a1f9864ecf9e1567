//! Votes: of the lanes of a warp, and of the threads of a block.
//!
//! The instructions are LLVM's own intrinsics, of which the compiler knows, since 1.97, that all threads have to come along.

use crate::Lanes;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, holds: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, holds: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(mask: u32, holds: bool) -> bool;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    fn bar_red_or(barrier: u32, holds: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    fn bar_red_and(barrier: u32, holds: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    fn bar_red_popc(barrier: u32, holds: bool) -> u32;
}

impl<const WIDTH: u32> Lanes<WIDTH> {
    /// The bits of this lane's segment.
    #[inline(always)]
    pub(crate) fn segment(self) -> u32 {
        if WIDTH == 32 { u32::MAX } else { ((1 << WIDTH) - 1) << (crate::lane_id() & !(WIDTH - 1)) }
    }

    /// A bit for each lane of the mask, in its place in the warp: whether `holds` is true there. Of all segments, in each.
    ///
    /// PTX: `vote.sync.ballot.b32 d, holds, mask;`. Needs sm_30 and ptx60.
    ///
    /// # Safety
    /// The calling lane is in the mask, and all lanes of the mask that have not ended come here.
    #[doc(alias = "__ballot_sync")]
    #[inline(always)]
    pub unsafe fn ballot(self, holds: bool) -> u32 {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the caller's promise.
        unsafe {
            vote_ballot(self.mask, holds)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let lanes = crate::cpu::exchange("ballot", self.mask, holds.into());
            lanes.iter().enumerate().fold(0, |bits, (lane, holds)| bits | (holds.unwrap_or(0) << lane))
        }
    }

    /// Whether `holds` is true for any lane of the segment.
    ///
    /// PTX: `vote.sync.any.pred d, holds, mask;`; for segments of a warp a ballot. Needs sm_30 and ptx60.
    ///
    /// # Safety
    /// The calling lane is in the mask, and all lanes of the mask that have not ended come here.
    #[doc(alias = "__any_sync")]
    #[inline(always)]
    pub unsafe fn any(self, holds: bool) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            #[cfg(target_arch = "nvptx64")]
            if WIDTH == 32 {
                return vote_any(self.mask, holds);
            }
            self.ballot(holds) & self.segment() != 0
        }
    }

    /// Whether `holds` is true for all lanes of the segment that have not ended.
    ///
    /// PTX: `vote.sync.all.pred d, holds, mask;`; for segments of a warp a ballot. Needs sm_30 and ptx60.
    ///
    /// # Safety
    /// The calling lane is in the mask, and all lanes of the mask that have not ended come here.
    #[doc(alias = "__all_sync")]
    #[inline(always)]
    pub unsafe fn all(self, holds: bool) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            #[cfg(target_arch = "nvptx64")]
            if WIDTH == 32 {
                return vote_all(self.mask, holds);
            }
            self.ballot(!holds) & self.segment() == 0
        }
    }

    /// For how many lanes of the segment `holds` is true.
    ///
    /// Costs a ballot and `popc`.
    ///
    /// # Safety
    /// The calling lane is in the mask, and all lanes of the mask that have not ended come here.
    #[inline(always)]
    pub unsafe fn count(self, holds: bool) -> u32 {
        // SAFETY: the caller's promise.
        (unsafe { self.ballot(holds) } & self.segment()).count_ones()
    }

    /// Waits until all lanes of the mask have come here. What they wrote before is seen by all of them after it.
    ///
    /// PTX: `bar.warp.sync mask;`. Needs sm_30 and ptx60.
    ///
    /// # Safety
    /// The calling lane is in the mask, and all lanes of the mask that have not ended come here.
    #[doc(alias = "__syncwarp")]
    #[doc(alias = "bar.warp.sync")]
    #[inline(always)]
    pub unsafe fn sync(self) {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the caller's promise.
        unsafe {
            bar_warp_sync(self.mask);
        }
        #[cfg(not(target_arch = "nvptx64"))]
        crate::cpu::wait_lanes("sync_warp", self.mask);
    }
}

/// A bit for each lane of the warp: whether `holds` is true there.
///
/// PTX: `vote.sync.ballot.b32 d, holds, -1;`. Needs sm_30 and ptx60.
///
/// PTX ISA: [vote.sync](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-vote-sync).
///
/// # Safety
/// All threads of the warp that have not ended come here.
#[doc(alias = "__ballot_sync")]
#[doc(alias = "vote.sync")]
#[inline(always)]
pub unsafe fn ballot(holds: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { Lanes::<32>::of_warp().ballot(holds) }
}

/// Whether `holds` is true for any lane of the warp.
///
/// PTX: `vote.sync.any.pred d, holds, -1;`. Needs sm_30 and ptx60.
///
/// PTX ISA: [vote.sync](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-vote-sync).
///
/// # Safety
/// All threads of the warp that have not ended come here.
#[doc(alias = "__any_sync")]
#[inline(always)]
pub unsafe fn any(holds: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { Lanes::<32>::of_warp().any(holds) }
}

/// Whether `holds` is true for all lanes of the warp.
///
/// PTX: `vote.sync.all.pred d, holds, -1;`. Needs sm_30 and ptx60.
///
/// PTX ISA: [vote.sync](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-vote-sync).
///
/// # Safety
/// All threads of the warp that have not ended come here.
#[doc(alias = "__all_sync")]
#[inline(always)]
pub unsafe fn all(holds: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { Lanes::<32>::of_warp().all(holds) }
}

/// For how many lanes of the warp `holds` is true.
///
/// PTX: `vote.sync.ballot.b32 d, holds, -1;` and `popc.b32`. Needs sm_30 and ptx60.
///
/// # Safety
/// All threads of the warp that have not ended come here.
#[inline(always)]
pub unsafe fn count(holds: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { Lanes::<32>::of_warp().count(holds) }
}

/// Votes of a block.
macro_rules! block_votes {
    ($($(#[$doc:meta])* $name:ident() -> $result:ty, $ptx:literal $cuda:literal $intrinsic:ident = |$votes:ident| $cpu:expr;)*) => { $(
        $(#[$doc])*
        /// It is a [`sync_threads`](crate::sync_threads) too, and takes no shared memory.
        ///
        #[doc = concat!("PTX: `", $ptx, " d, 0, holds;`.")]
        ///
        /// PTX ISA: [bar.red](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-bar).
        ///
        /// # Safety
        /// All threads of the block that have not ended come here, and the block is whole warps.
        #[doc(alias = $cuda)]
        #[doc(alias = $ptx)]
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub unsafe fn $name(holds: bool) -> $result {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: the caller's promise.
            unsafe {
                $intrinsic(0, holds)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let $votes = crate::cpu::meet(stringify!($name), Some(holds));
                $cpu
            }
        }
    )* };
}
block_votes! {
    /// Whether `holds` is true for any thread of the block.
    block_any() -> bool, "bar.red.or.pred" "__syncthreads_or" bar_red_or = |votes| votes.any();
    /// Whether `holds` is true for all threads of the block that have not ended.
    block_all() -> bool, "bar.red.and.pred" "__syncthreads_and" bar_red_and = |votes| votes.all();
    /// For how many threads of the block `holds` is true.
    block_count() -> u32, "bar.red.popc.u32" "__syncthreads_count" bar_red_popc = |votes| votes.count();
}
