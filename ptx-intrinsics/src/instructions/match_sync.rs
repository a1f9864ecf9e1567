//! `match.sync`: which threads of a warp have the same value.

#[cfg(not(ptx_device))]
use crate::cpu::warp;
#[cfg(ptx_device)]
use crate::emit::registers::Flagged;

/// Each type: `any` and `all`, with PTX and LLVM's intrinsic.
macro_rules! match_sync {
    ($($of:ident $class:ident: $any:ident $any_ptx:literal $any_intrinsic:literal, $all:ident $all_ptx:literal $all_intrinsic:literal;)*) => {
        instructions! { SINGLES:
            instruction "match.sync", isa "parallel-synchronization-and-communication-instructions-match-sync", effect message, T = u8 { $(
                /// The lanes in `mask` whose number is that of this thread.
                #[doc(alias = "match.any.sync")]
                #[doc(alias = "match.sync")]
                unsafe fn $any(number: $of as $class, mask: u32 as reg32) -> (u32 as lanes: u32) {
                    ptx: $any_ptx -> lanes, number, mask;
                    intrinsic: { $any_intrinsic(mask: u32, number: $of) };
                    needs: Matches;
                    safety: "All threads of the warp in `mask`, this one among them, come to this call with the same `mask`.";
                    cpu: warp::equal(stringify!($any), mask, number.into());
                }

                /// `mask`, and `true`, if all threads in `mask` have the same number; else 0, and `false`.
                #[doc(alias = "match.all.sync")]
                #[doc(alias = "match.sync")]
                unsafe fn $all(number: $of as $class, mask: u32 as reg32)
                    -> ((u32, bool) as both: Flagged => (both.0, both.1))
                {
                    ptx: $all_ptx -> (lanes | same), number, mask;
                    intrinsic: { $all_intrinsic(mask: u32, number: $of) };
                    needs: Matches;
                    safety: "All threads of the warp in `mask`, this one among them, come to this call with the same `mask`.";
                    cpu: warp::all_equal(stringify!($all), mask, number.into());
                }
            )* }
        }
    };
}
match_sync! {
    u32 reg32: match_any_sync_b32 "match.any.sync.b32" "llvm.nvvm.match.any.sync.i32",
        match_all_sync_b32 "match.all.sync.b32" "llvm.nvvm.match.all.sync.i32p";
    u64 reg64: match_any_sync_b64 "match.any.sync.b64" "llvm.nvvm.match.any.sync.i64",
        match_all_sync_b64 "match.all.sync.b64" "llvm.nvvm.match.all.sync.i64p";
}
