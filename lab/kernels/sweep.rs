//! Reading a piece of memory once, all of the GPU together, under each hint.

use ptx_intrinsics::prelude::*;
use ptx_kernel::whole;

use crate::place::{count, index};

/// How many loads of a thread are in flight.
const UNROLL: usize = 4;

/// Reads `n` quads, and writes their sum to `out` if that is `told`, which nobody expects but a test: so they have to be
/// read.
///
/// # Safety
/// The first `n` quads at `from` are valid for `load`, and `n` is below 2^31; `out` is valid for a write.
#[inline(always)]
unsafe fn sweep(out: *mut u32, told: u32, from: *const V4<u32>, n: u32, load: impl Fn(*const V4<u32>) -> V4<u32>) {
    let (first, step) = (index(), count());
    let mut at: [u32; UNROLL] = core::array::from_fn(|k| whole(first + k as u32 * step));
    let mut sum = 0;
    while at[UNROLL - 1] < n {
        let values: [V4<u32>; UNROLL] = core::array::from_fn(|k| load(from.wrapping_add(at[k] as usize)));
        for k in 0..UNROLL {
            let [a, b, c, d] = values[k].0;
            sum ^= a ^ b ^ c ^ d;
        }
        at = at.map(|at| whole(at + UNROLL as u32 * step));
    }
    let mut i = at[0];
    while i < n {
        let [a, b, c, d] = load(from.wrapping_add(i as usize)).0;
        sum ^= a ^ b ^ c ^ d;
        i += step;
    }
    if sum == told {
        // SAFETY: by this function's contract.
        unsafe { stcs(out, sum) };
    }
}

/// Reads `n` quads under no hint.
///
/// # Safety
/// `from` is valid for reads of `n` quads, fewer than 2^31, which nobody writes to while the grid runs; `out` is valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sweep_plain(out: *mut u32, told: u32, from: *const V4<u32>, n: u32) {
    // SAFETY: by this kernel's contract.
    unsafe { sweep(out, told, from, n, |at| ptx!(ld.global.v4.u32[at])) };
}

/// Reads `n` quads that need not enter L1.
///
/// # Safety
/// As for [`sweep_plain`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sweep_no_allocate(out: *mut u32, told: u32, from: *const V4<u32>, n: u32) {
    // SAFETY: by this kernel's contract.
    unsafe { sweep(out, told, from, n, |at| ptx!(ld.global.L1::no_allocate.v4.u32 [at])) };
}

/// Reads `n` quads under a policy of L2.
///
/// # Safety
/// As for [`sweep_plain`]; `policy` is one that `createpolicy` makes.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sweep_policy(out: *mut u32, told: u32, from: *const V4<u32>, n: u32, policy: u64) {
    let policy = CachePolicy::from_bits(policy);
    // SAFETY: by this kernel's contract.
    unsafe { sweep(out, told, from, n, |at| ptx!(ld.global.L2::cache_hint.v4.u32 [at], policy)) };
}
