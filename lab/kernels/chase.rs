//! The probe, and the latency of each kind of load: one thread follows links, and every load waits for the one before it.

use ptx_intrinsics::prelude::*;

use crate::place::{chosen, count, index, probe, timed};

macro_rules! chases {
    ($($name:ident [$($load:tt)*];)*) => { $(
        #[doc = concat!("Follows links by `", $(stringify!($load)),*, "`.")]
        ///
        /// # Safety
        /// As for [`chase_cg`].
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(times: *mut u32, ticket: *mut u32, sm: u32, start: u64, steps: u32) {
            // SAFETY: by this kernel's contract.
            unsafe {
                if chosen(ticket, sm) {
                    probe(times, start, steps, |at| ptx!($($load)* [at as *const u64]));
                }
            }
        }
    )* };
}

/// Follows `steps` links from `start` on multiprocessor `sm`, past L1: the probe of L2.
///
/// # Safety
/// `start` and every link after it are the address of a link in global memory, and nobody writes to them while the grid
/// runs. `steps` is at most 16,384, and `times` is valid for writes of so many numbers; `ticket` is 0. Nobody else touches
/// these.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chase_cg(times: *mut u32, ticket: *mut u32, sm: u32, start: u64, steps: u32) {
    // SAFETY: by this kernel's contract.
    unsafe {
        if chosen(ticket, sm) {
            probe(times, start, steps, |at| ldcg(at as *const u64));
        }
    }
}

chases! {
    chase_weak [ld.global.u64];
    chase_nc [ld.global.nc.u64];
    chase_relaxed_gpu [ld.relaxed.gpu.global.u64];
    chase_relaxed_sys [ld.relaxed.sys.global.u64];
    chase_acquire_gpu [ld.acquire.gpu.global.u64];
    chase_acquire_sys [ld.acquire.sys.global.u64];
    chase_volatile [ld.volatile.global.u64];
    chase_mmio [ld.mmio.relaxed.sys.global.u64];
}

/// The same loop without a load: what the clock and the times cost. What would be loaded is the last clock, which the
/// assembler cannot know.
///
/// # Safety
/// As for [`chase_cg`]; nothing is read at `start`.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chase_empty(times: *mut u32, ticket: *mut u32, sm: u32, start: u64, steps: u32) {
    // SAFETY: by this kernel's contract.
    unsafe {
        if chosen(ticket, sm) {
            timed(times, start, steps, |_, clock| clock);
        }
    }
}

/// Writes a ring of `n` links: each is the address of the next place in `order`, in bytes from `base`.
///
/// # Safety
/// `order` is valid for reads of `n` numbers, each of which, added to `base`, is the address of a word in global memory
/// that nobody else touches.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn link(base: u64, order: *const u32, n: u32) {
    let (mut i, step) = (index(), count());
    while i < n {
        let next = if i + 1 < n { i + 1 } else { 0 };
        // SAFETY: both numbers are below n.
        unsafe {
            let (from, to) = (ldg(order.add(i as usize)), ldg(order.add(next as usize)));
            st_global::<NoHint>().write((base + u64::from(from)) as *mut u64, base + u64::from(to));
        }
        i += step;
    }
}
