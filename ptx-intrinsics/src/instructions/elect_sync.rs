//! `elect.sync`: one thread of the warp.

#[cfg(ptx_device)]
use crate::emit::registers::Flagged;
#[cfg(not(ptx_device))]
use crate::cpu::warp;

instructions! { SINGLES:
    instruction "elect.sync", isa "parallel-synchronization-and-communication-instructions-elect-sync", effect message, T = u8 {
        /// The lane that is elected of those in `mask`, and whether it is this one.
        #[doc(alias = "elect_one_sync")]
        unsafe fn elect_sync(mask: u32 as reg32) -> ((u32, bool) as elected: Flagged => (elected.0, elected.1)) {
            ptx: "elect.sync" -> (lane | elected), mask;
            intrinsic: { "llvm.nvvm.elect.sync"(mask: u32) };
            needs: Election;
            safety: "All threads of the warp in `mask`, this one among them, come to this call with the same `mask`.";
            cpu: warp::elect(mask);
        }
    }
}
