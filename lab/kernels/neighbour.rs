//! The latency of shared memory: the block's own, and that of its neighbour in the cluster.

use core::arch::asm;

use ptx_intrinsics::prelude::*;
use ptx_kernel::whole;

use crate::place::{me, probe, rolled, timed};

/// Links of the ring.
const LINKS: u32 = 1024;

/// How far one link is from the next.
const STRIDE: u32 = 257;

shared!(lab_links: [u32; LINKS as usize]);

/// Waits for all threads of the cluster.
#[inline(always)]
fn sync_cluster() {
    // SAFETY: all threads of the cluster come along.
    unsafe {
        barrier_cluster_arrive_aligned();
        barrier_cluster_wait_aligned();
    }
}

/// The block's number in its cluster.
#[inline(always)]
fn rank() -> u32 {
    let rank;
    // SAFETY: this only reads a special register.
    unsafe { asm!("mov.u32 {rank}, %cluster_ctarank;", rank = out(reg32) rank, options(nomem, nostack)) };
    rank
}

/// Writes the ring of this block: each link is the place of the next, in bytes.
///
/// # Safety
/// One thread of a block calls it.
#[inline(always)]
unsafe fn write_ring() {
    let mut i = 0;
    while i < LINKS {
        rolled();
        // SAFETY: the place is in the ring.
        unsafe { SharedPtr::<u32>::from_address(lab_links()).add(i).write((i + STRIDE) % LINKS * 4) };
        i = whole(i + 1);
    }
}

/// Follows `steps` links in the block's own shared memory.
///
/// # Safety
/// `steps` is at most 16,384, and `times` is valid for writes of so many numbers, which nobody else touches. The grid is one
/// cluster of two blocks.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chase_shared(times: *mut u32, steps: u32) {
    let base = u64::from(lab_links());
    // SAFETY: the ring is in the block's shared memory; by this kernel's contract.
    unsafe {
        if me() == 0 {
            write_ring();
        }
        sync_cluster();
        if me() == 0 && rank() == 0 {
            probe(times, base, steps, |at| base + u64::from(SharedPtr::<u32>::from_address(at as u32).read()));
        }
        sync_cluster();
    }
}

/// The same loop without a load, for both of these.
///
/// # Safety
/// As for [`chase_shared`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chase_shared_empty(times: *mut u32, steps: u32) {
    let base = u64::from(lab_links());
    // SAFETY: by this kernel's contract.
    unsafe {
        if me() == 0 && rank() == 0 {
            timed(times, base, steps, |_, clock| base + u64::from(clock as u32));
        }
    }
}

/// Follows `steps` links in the shared memory of the other block of the cluster.
///
/// # Safety
/// As for [`chase_shared`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chase_neighbour(times: *mut u32, steps: u32) {
    let base = mapa_shared_cluster_u64(lab_links().into(), 1);
    // SAFETY: the ring is in the other block's shared memory, which stays there until all have come to the last barrier; by
    // this kernel's contract.
    unsafe {
        if me() == 0 {
            write_ring();
        }
        sync_cluster();
        if me() == 0 && rank() == 0 {
            probe(times, base, steps, |at| {
                base + u64::from(ptx!(ld.shared::cluster.u32 [SharedClusterPtr::<u32>::from_address(at as u32)]))
            });
        }
        sync_cluster();
    }
}
