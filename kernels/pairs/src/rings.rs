//! Rings of stages, matrices, programmatic dependent launch.

use crate::WRONG;
use crate::common::*;
use crate::copies::{Mistake, N, a_tile, b_tile, empty, one, outgoing, ring, stage, stages};
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

kernel! {
    /// A producer warp and a consumer warp: `empty` counts one arrival, and 32 come. Grid 1, block 64.
    pub unsafe fn empty_count(x: *const u32, out: *mut u32, turns: u32) {
        ring(x, out, turns, Mistake::EmptyCount);
    }
}

kernel! {
    /// The producer waits for the wrong parity at first: it waits for ever. Grid 1, block 64.
    pub unsafe fn producer_parity(x: *const u32, out: *mut u32, turns: u32) {
        ring(x, out, turns, Mistake::ProducerParity);
    }
}

kernel! {
    /// The consumer gives a stage back before it has read it.
    pub unsafe fn early_release(x: *const u32, out: *mut u32, turns: u32) {
        ring(x, out, turns, Mistake::EarlyRelease);
    }
}

kernel! {
    /// The phase of the ring changes every turn, not every round.
    pub unsafe fn phase_every_turn(x: *const u32, out: *mut u32, turns: u32) {
        ring(x, out, turns, Mistake::Phase);
    }
}

kernel! {
    /// The producer does not wait for `empty` at all.
    pub unsafe fn no_empty(x: *const u32, out: *mut u32, turns: u32) {
        ring(x, out, turns, Mistake::NoEmpty);
    }
}

kernel! {
    /// A sum by `cp.reduce.async.bulk` is read after `wait_group.read`. Grid 1, block 64.
    pub unsafe fn reduce_read(sums: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = outgoing().cast::<u32>();
            p.add(t).write(t);
            fence_proxy_async_shared_cta();
            sync_threads();
            if t == 0 {
                cp_reduce_async_bulk_global_shared_add(sums, p, 4 * N); //@ reduce_read
                cp_async_bulk_commit_group();
                if WRONG { cp_async_bulk_wait_group_read::<0>(); } else { cp_async_bulk_wait_group::<0>(); }
                for i in 0..4usize {
                    *out.add(i) = *sums.add(i); //@ reduce_read
                }
            }
        }
    }
}

kernel! {
    /// `ldmatrix` of what other lanes have stored, without a barrier. Grid 1, block 32.
    pub unsafe fn ldmatrix(out: *mut f32) {
        unsafe {
            let lane = lane_id();
            let a = a_tile().cast::<u32>();
            for k in 0..4 { a.add(lane + 32 * k).write(0x3f803f80); } //@ ldmatrix
            for k in 0..2 { a.add(lane + 32 * (k + 2)).write(0x3f803f80); }
            let b = b_tile().cast::<u32>();
            for k in 0..2 { b.add(lane + 32 * k).write(0x3f803f80); }
            if !WRONG { sync_warp(); }
            let left: [Bf16x2; 4] = ldmatrix_m8n8_x4(a.add(lane % 16 * 8 + lane / 16 * 4).cast()); //@ ldmatrix
            let right: [Bf16x2; 2] = ldmatrix_m8n8_x2(b.add(lane % 8 * 8 + lane / 8 % 2 * 4).cast());
            let d = mma_m16n8k16_f32_bf16(left, right, [0.0; 4]);
            out.cast::<[f32; 4]>().add(lane as usize).write(d);
        }
    }
}

kernel! {
    /// `ldmatrix` of a tile that `cp.async` brings, waited for one group too few. Grid 1, block 32.
    pub unsafe fn ldmatrix_cp_async(x: *const u32, out: *mut f32) {
        unsafe {
            let lane = lane_id();
            let (a, b) = (a_tile().cast::<u32>(), b_tile().cast::<u32>());
            for k in 0..4 { cp_async_ca::<NoPrefetch>().copy(a.add(lane + 32 * k), x.add((lane + 32 * k) as usize)); }
            cp_async_commit_group();
            for k in 0..2 { cp_async_ca::<NoPrefetch>().copy(b.add(lane + 32 * k), x.add((lane + 32 * k) as usize)); } //@ ldmatrix_cp_async
            cp_async_commit_group();
            if WRONG { cp_async_wait_group::<1>(); } else { cp_async_wait_group::<0>(); }
            sync_warp();
            let left: [Bf16x2; 4] = ldmatrix_m8n8_x4(a.add(lane % 16 * 8 + lane / 16 * 4).cast());
            let right: [Bf16x2; 2] = ldmatrix_m8n8_x2(b.add(lane % 8 * 8 + lane / 8 % 2 * 4).cast()); //@ ldmatrix_cp_async
            let d = mma_m16n8k16_f32_bf16(left, right, [0.0; 4]);
            out.cast::<[f32; 4]>().add(lane as usize).write(d);
        }
    }
}

kernel! {
    /// CUTLASS 2962: a count is read before `griddepcontrol.wait`. Grid 1, block 64, --pdl.
    pub unsafe fn pdl(n: *const u32, x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let mut count = 0;
            if WRONG { count = *n; } //@ pdl
            griddepcontrol_wait();
            if !WRONG { count = *n; }
            if t < count { *out.add(t as usize) = *x.add(t as usize); }
        }
    }
}

kernel! {
    /// `griddepcontrol.wait` in the branch of one warp; the others store. Grid 1, block 64, --pdl.
    pub unsafe fn pdl_one_warp(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = outgoing().cast::<u32>();
            if t < 32 {
                griddepcontrol_wait();
                p.add(t).write(*x.add(t as usize));
            }
            if !WRONG { sync_threads(); }
            if t >= 32 {
                *out.add(t as usize) = t; //@ pdl_one_warp
            }
            sync_threads();
            if t < 32 { *out.add(t as usize) = p.add(31 - t).read(); }
        }
    }
}

kernel! {
    /// The first barrier of a ring is also the last one's: its second wait is for a phase that is over twice. A ring of two stages whose
    /// consumer is one phase behind. Grid 1, block 64.
    pub unsafe fn state_reused(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(one(), 64); }
            sync_threads();
            let p = stage(0);
            p.add(t).write(t);
            let state = mbarrier_arrive(one());
            while !mbarrier_try_wait(one(), state) { pause(); }
            let v = p.add(63 - t).read(); //@ state_reused
            let state2 = mbarrier_arrive(one());
            let waited = if WRONG { state } else { state2 };
            while !mbarrier_try_wait(one(), waited) { pause(); }
            p.add(t).write(v); //@ state_reused
            sync_threads();
            *out.add(t as usize) = p.add(63 - t).read();
        }
    }
}

kernel! {
    /// A bulk copy of more bytes than the buffer has (the tail of a row). Grid 1, block 64.
    pub unsafe fn source_bounds(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            let count = if WRONG { N } else { n };
            if t == 0 {
                mbarrier_init(one(), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(one(), 4 * count);
                cp_async_bulk_shared_cluster_global(stage(0), x, 4 * count, one()); //@ source_bounds
            }
            sync_threads();
            wait(one(), 0);
            if t < n { *out.add(t as usize) = stage(0).add(t).read(); }
        }
    }
}
