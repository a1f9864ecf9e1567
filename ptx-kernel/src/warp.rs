//! Exchange between the threads of a warp.
//!
//! All threads of the warp that have not ended take part. The instructions are LLVM's own intrinsics, of which the compiler
//! knows, since 1.97, that all threads have to come along.

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_bfly(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, holds: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, holds: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(mask: u32, holds: bool) -> bool;
}

mod sealed {
    pub trait Sealed {}
}

/// A value of 32 bits, which one shuffle moves.
#[diagnostic::on_unimplemented(
    message = "a shuffle cannot move a `{Self}`",
    note = "it moves `u32`, `i32` and `f32`: one register of 32 bits"
)]
pub trait Shuffled: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn into_bits(self) -> u32;
    #[doc(hidden)]
    fn of_bits(bits: u32) -> Self;
}

macro_rules! shuffled {
    ($($type:ty: $into:expr, $of:expr;)*) => { $(
        impl sealed::Sealed for $type {}
        impl Shuffled for $type {
            #[inline(always)]
            fn into_bits(self) -> u32 {
                ($into)(self)
            }
            #[inline(always)]
            fn of_bits(bits: u32) -> Self {
                ($of)(bits)
            }
        }
    )* };
}
shuffled! {
    u32: |bits| bits, |bits| bits;
    i32: |value: i32| value as u32, |bits| bits as i32;
    f32: f32::to_bits, f32::from_bits;
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident($lane:ident) $ptx:literal $cuda:literal $intrinsic:ident $clamp:literal $from:expr;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `shfl.sync.", $ptx, ".b32 d, value, ", stringify!($lane), ", ", $clamp, ", -1;`. Needs sm_30 and ptx60.")]
        ///
        /// PTX ISA: [shfl.sync](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-shfl-sync).
        ///
        /// # Safety
        /// All threads of the warp that have not ended come here.
        #[doc(alias = $cuda)]
        #[doc(alias = "shfl.sync")]
        #[inline(always)]
        pub unsafe fn $name<T: Shuffled>(value: T, $lane: u32) -> T {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: the caller's promise.
            unsafe {
                T::of_bits($intrinsic(u32::MAX, value.into_bits(), $lane, $clamp))
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let lanes = crate::cpu::exchange(stringify!($name), value.into_bits());
                let from: fn(u32, u32) -> Option<u32> = $from;
                let from = from(crate::lane_id(), $lane).and_then(|lane| lanes.get(lane as usize).copied().flatten());
                from.map_or(value, T::of_bits)
            }
        }
    )* };
}
shuffles! {
    /// The value of the lane whose number differs from this one's in the bits of `mask`.
    shuffle_xor(mask) "bfly" "__shfl_xor_sync" shfl_bfly 31 |lane, mask| Some(lane ^ (mask & 31));
    /// The value of the lane `delta` further down, its own if there is none.
    shuffle_up(delta) "up" "__shfl_up_sync" shfl_up 0 |lane, delta| lane.checked_sub(delta & 31);
    /// The value of the lane `delta` further up, its own if there is none.
    shuffle_down(delta) "down" "__shfl_down_sync" shfl_down 31 |lane, delta| Some(lane + (delta & 31));
    /// The value of the lane of this number, of which the lowest five bits count.
    shuffle(lane) "idx" "__shfl_sync" shfl_idx 31 |_, lane| Some(lane & 31);
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
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        vote_ballot(u32::MAX, holds)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let lanes = crate::cpu::exchange("ballot", holds.into());
        lanes.iter().enumerate().fold(0, |bits, (lane, holds)| bits | (holds.unwrap_or(0) << lane))
    }
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
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        vote_any(u32::MAX, holds)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::cpu::exchange("any", holds.into()).into_iter().flatten().any(|holds| holds != 0)
    }
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
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        vote_all(u32::MAX, holds)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::cpu::exchange("all", holds.into()).into_iter().flatten().all(|holds| holds != 0)
    }
}
