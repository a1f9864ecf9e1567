//! One thread does something to a piece of memory, then to another, waits, and probes: what is where after hints,
//! prefetches and fences.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::whole;

use crate::place::{chosen, clock_after, probe, rolled};

/// How many accesses are in flight.
const BATCH: usize = 8;

/// A piece of memory: `count` places from `at` on, `step` bytes apart.
#[derive(Clone, Copy)]
struct Places {
    at: u64,
    count: u32,
    step: u32,
}

/// Does `touch` to each place; what it read, added up.
#[inline(always)]
fn each(places: Places, touch: impl Fn(*const u32) -> u32) -> u32 {
    let Places { mut at, mut count, step } = places;
    let mut sum = 0;
    while count >= BATCH as u32 {
        rolled();
        let values: [u32; BATCH] =
            core::array::from_fn(|k| touch(at.wrapping_add(k as u64 * u64::from(step)) as *const u32));
        for k in 0..BATCH {
            sum ^= values[k];
        }
        at += BATCH as u64 * u64::from(step);
        count = whole(count - BATCH as u32);
    }
    while count > 0 {
        rolled();
        sum ^= touch(at as *const u32);
        at += u64::from(step);
        count = whole(count - 1);
    }
    sum
}

/// What each touch is.
macro_rules! touch {
    (nothing $at:ident) => {{
        let _ = $at;
        0
    }};
    (prefetch_l1 $at:ident) => {{
        prefetch_global_l1($at);
        0
    }};
    (prefetch_l2 $at:ident) => {{
        prefetch_global_l2::<NoHint>($at);
        0
    }};
    (prefetch_l2_last $at:ident) => {{
        prefetch_global_l2::<L2EvictLast>($at);
        0
    }};
    (prefetch_bulk $at:ident) => {{
        cp_async_bulk_prefetch_l2($at, 128);
        0
    }};
    (applypriority $at:ident) => {{
        applypriority_global_l2_evict_normal($at);
        0
    }};
    (fence_acq_rel $at:ident) => {{
        let _ = $at;
        fence_acq_rel::<Gpu>();
        0
    }};
    (fence_sc $at:ident) => {{
        let _ = $at;
        fence_sc::<Gpu>();
        0
    }};
    (keep $at:ident) => {
        ptx!(ld.global.L2::cache_hint.u32 [$at], CachePolicy::all::<L2EvictLast>())
    };
    ([$($load:tt)*] $at:ident) => {
        ptx!($($load)* [$at])
    };
}

macro_rules! stages {
    ($($(#[$attribute:meta])* $name:ident: $a:tt, $b:tt, [$($probe:tt)*];)*) => { $(
        #[doc = concat!("Does `", stringify!($a), "`, then `", stringify!($b), "`, and probes.")]
        ///
        /// # Safety
        /// `a` is the address of `a_count` places in global memory, `a_step` bytes apart, valid for what is done to them, and
        /// so is `b`; nobody writes to them while the grid runs. The rest is as for [`chase_cg`](crate::chase::chase_cg).
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        $(#[$attribute])*
        pub unsafe extern "ptx-kernel" fn $name(
            times: *mut u32,
            ticket: *mut u32,
            sm: u32,
            a: u64,
            a_count: u32,
            a_step: u32,
            b: u64,
            b_count: u32,
            b_step: u32,
            pause: u32,
            start: u64,
            steps: u32,
        ) {
            // SAFETY: by this kernel's contract.
            unsafe {
                if !chosen(ticket, sm) {
                    return;
                }
                let first = each(Places { at: a, count: a_count, step: a_step }, |at| touch!($a at));
                // The second begins once the first is here; what is never 0 must not be known to the assembler as that, else
                // it leaves out the loads.
                let b = if clock_after(u64::from(first) ^ start) == 0 { a } else { b };
                let second = each(Places { at: b, count: b_count, step: b_step }, |at| touch!($b at));
                let begun = clock_after(u64::from(first ^ second) ^ start);
                while clock_after(begun) - begun < u64::from(pause) {}
                probe(times, start, steps, |at| ptx!($($probe)* [at as *const u64]));
            }
        }
    )* };
}

stages! {
    // A sector of each line is touched; its neighbours are probed.
    touch_plain: [ld.global.u32], nothing, [ld.global.cg.u64];
    touch_64: [ld.global.L2::64B.u32], nothing, [ld.global.cg.u64];
    touch_128: [ld.global.L2::128B.u32], nothing, [ld.global.cg.u64];
    touch_256: [ld.global.L2::256B.u32], nothing, [ld.global.cg.u64];

    // A hot set, then a stream under each hint; the hot set is probed.
    hot_stream_plain: [ld.global.u32], [ld.global.u32], [ld.global.u64];
    hot_stream_normal: [ld.global.u32], [ld.global.L1::evict_normal.u32], [ld.global.u64];
    hot_stream_unchanged: [ld.global.u32], [ld.global.L1::evict_unchanged.u32], [ld.global.u64];
    hot_stream_first: [ld.global.u32], [ld.global.L1::evict_first.u32], [ld.global.u64];
    hot_stream_last: [ld.global.u32], [ld.global.L1::evict_last.u32], [ld.global.u64];
    hot_stream_no_allocate: [ld.global.u32], [ld.global.L1::no_allocate.u32], [ld.global.u64];
    hot_last_stream_plain: [ld.global.L1::evict_last.u32], [ld.global.u32], [ld.global.u64];

    // A hot set, then one access or fence; the hot set is probed.
    hot_then_relaxed: [ld.global.u32], [ld.relaxed.gpu.global.u32], [ld.global.u64];
    hot_then_volatile: [ld.global.u32], [ld.volatile.global.u32], [ld.global.u64];
    hot_then_acquire: [ld.global.u32], [ld.acquire.gpu.global.u32], [ld.global.u64];
    hot_then_fence_acq_rel: [ld.global.u32], fence_acq_rel, [ld.global.u64];
    hot_then_fence_sc: [ld.global.u32], fence_sc, [ld.global.u64];

    // Lines are announced, and probed a while later.
    announce_nothing: nothing, nothing, [ld.global.u64];
    announce_l1: prefetch_l1, nothing, [ld.global.u64];
    announce_l2: prefetch_l2, nothing, [ld.global.u64];
    announce_l2_last: prefetch_l2_last, nothing, [ld.global.u64];
    #[cfg(feature = "bulk")]
    announce_bulk: prefetch_bulk, nothing, [ld.global.u64];

    // Lines are kept, and given up again or not.
    keep: keep, nothing, [ld.global.cg.u64];
    keep_then_give_up: keep, applypriority, [ld.global.cg.u64];
}
