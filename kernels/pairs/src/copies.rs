//! Asynchronous copies, and the barriers that count them.

use crate::WRONG;
use crate::common::*;
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

pub(crate) const N: u32 = 64;

shared! {
    pub(crate) fn stages() -> [Stage; 4];
    pub(crate) fn outgoing() -> Stage;
    pub(crate) fn full() -> [Mbarrier; 4];
    pub(crate) fn empty() -> [Mbarrier; 4];
    pub(crate) fn one() -> Mbarrier;
    pub(crate) fn a_tile() -> [[u16; 16]; 16];
    pub(crate) fn b_tile() -> [[u16; 16]; 8];
}

#[inline(always)]
pub(crate) fn stage(i: u32) -> SharedPtr<u32> {
    stages().cast::<Stage>().add(i).cast::<u32>()
}

/// Copies four bytes of each thread.
#[inline(always)]
pub(crate) unsafe fn fetch(to: SharedPtr<u32>, from: *const u32) {
    unsafe { cp_async_ca::<NoPrefetch>().copy(to, from) };
    cp_async_commit_group();
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    EmptyCount,
    ProducerParity,
    EarlyRelease,
    Phase,
    NoEmpty,
}

/// A ring of two stages, filled by a thread of the first warp, and emptied by the second warp.
#[inline(always)]
pub(crate) fn ring(x: *const u32, out: *mut u32, turns: u32, mistake: Mistake) {
    const STAGES: u32 = 2;
    let has = |m: Mistake| WRONG && mistake == m;
    unsafe {
        let t = thread_idx_x();
        let (full, empty) = (full().cast::<Mbarrier>(), empty().cast::<Mbarrier>());
        if t == 0 {
            for s in 0..STAGES {
                mbarrier_init(full.add(s), 1);
                mbarrier_init(empty.add(s), if has(Mistake::EmptyCount) { 1 } else { 32 }); //@ empty_count
            }
            fence_mbarrier_init_release_cluster();
        }
        sync_threads();
        let parity = |i: u32| if has(Mistake::Phase) { i % 2 } else { i / STAGES % 2 };
        if t == 0 {
            for i in 0..turns {
                let s = i % STAGES;
                if !has(Mistake::NoEmpty) {
                    wait(empty.add(s), if has(Mistake::ProducerParity) { parity(i) } else { parity(i) ^ 1 }); //@ producer_parity //@ empty_count
                }
                mbarrier_arrive_expect_tx(full.add(s), 4 * N); //@ no_empty
                cp_async_bulk_shared_cluster_global(stage(s), x.add((i * N) as usize), 4 * N, full.add(s)); //@ early_release //@ no_empty //@ empty_count //@ phase_every_turn
            }
        } else if t >= 32 {
            for i in 0..turns {
                let s = i % STAGES;
                wait(full.add(s), parity(i)); //@ phase_every_turn
                let lane = t - 32;
                if has(Mistake::EarlyRelease) {
                    fence_proxy_async_shared_cta();
                    mbarrier_arrive(empty.add(s));
                }
                let pair = stage(s).cast::<V2<u32>>().add(lane).read(); //@ early_release //@ no_empty //@ empty_count
                out.add((i * N) as usize).cast::<V2<u32>>().add(lane as usize).write(pair);
                if !has(Mistake::EarlyRelease) {
                    fence_proxy_async_shared_cta();
                    mbarrier_arrive(empty.add(s)); //@ empty_count
                }
            }
        }
        sync_threads();
    }
}

kernel! {
    /// `wait_group<1>` in the last turn too. Grid 1, block 64.
    pub unsafe fn wait_group_last(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            fetch(stage(0).add(t), x.add(t as usize));
            for i in 0..turns {
                if i + 1 < turns {
                    fetch(stage((i + 1) % 2).add(t), x.add(((i + 1) * N + t) as usize)); //@ wait_group_last
                    cp_async_wait_group::<1>();
                } else if WRONG {
                    cp_async_wait_group::<1>();
                } else {
                    cp_async_wait_group::<0>();
                }
                sync_threads();
                *out.add((i * N + t) as usize) = stage(i % 2).add(63 - t).read(); //@ wait_group_last
                sync_threads();
            }
        }
    }
}

kernel! {
    /// A wait for one's own copies, and no barrier before others' are read. Grid 1, block 64.
    pub unsafe fn no_barrier(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            fetch(stage(0).add(t), x.add(t as usize));
            cp_async_wait_all();
            if !WRONG { sync_threads(); }
            *out.add(t as usize) = stage(0).add(63 - t).read(); //@ no_barrier
        }
    }
}

kernel! {
    /// A stage is filled anew before all have read it (three stages, the barrier after the fetch). Grid 1, block 64.
    pub unsafe fn stage_reused(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            let ahead = 2;
            let count = if WRONG { 2 } else { 3 };
            for i in 0..ahead {
                fetch(stage(i % count).add(t), x.add((i * N + t) as usize));
            }
            for i in 0..turns {
                cp_async_wait_group::<1>();
                sync_threads();
                // With three stages the place of `i + 2` is that of `i - 1`, which all have read before the barrier.
                if i + ahead < turns {
                    fetch(stage((i + ahead) % count).add(t), x.add(((i + ahead) * N + t) as usize)); //@ stage_reused
                } else {
                    cp_async_commit_group();
                }
                *out.add((i * N + t) as usize) = stage(i % count).add(63 - t).read(); //@ stage_reused
            }
        }
    }
}

kernel! {
    /// The copy is in no group: the wait does not wait for it. Grid 1, block 64.
    pub unsafe fn no_commit(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            cp_async_ca::<NoPrefetch>().copy(stage(0).add(t), x.add(t as usize)); //@ no_commit
            if !WRONG { cp_async_commit_group(); }
            cp_async_wait_group::<0>();
            sync_threads();
            *out.add(t as usize) = stage(0).add(63 - t).read(); //@ no_commit
        }
    }
}

kernel! {
    /// `cp.async.mbarrier.arrive` that increments, where the count has the arrivals in it (noinc is meant). Grid 1, block 64.
    pub unsafe fn noinc(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(one(), 64); }
            sync_threads();
            cp_async_ca::<NoPrefetch>().copy(stage(0).add(t), x.add(t as usize)); //@ noinc
            if WRONG { cp_async_mbarrier_arrive(one()); } else { cp_async_mbarrier_arrive_noinc(one()); } //@ noinc
            wait(one(), 0); //@ noinc
            *out.add(t as usize) = stage(0).add(63 - t).read();
        }
    }
}

kernel! {
    /// The barrier expects elements instead of bytes. Grid 1, block 64.
    pub unsafe fn expect_elements(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 {
                mbarrier_init(one(), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(one(), if WRONG { N } else { 4 * N }); //@ expect_elements
                cp_async_bulk_shared_cluster_global(stage(0), x, 4 * N, one()); //@ expect_elements
            }
            sync_threads();
            wait(one(), 0);
            *out.add(t as usize) = stage(0).add(t).read();
        }
    }
}

kernel! {
    /// The last chunk is shorter, and the barrier expects a whole one. Grid 1, block 64.
    pub unsafe fn expect_whole(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(one(), 1); fence_mbarrier_init_release_cluster(); }
            sync_threads();
            let mut at = 0;
            let mut parity = 0;
            while at < n {
                let count = (n - at).min(N);
                if t == 0 {
                    mbarrier_arrive_expect_tx(one(), if WRONG { 4 * N } else { 4 * count }); //@ expect_whole
                    cp_async_bulk_shared_cluster_global(stage(0), x.add(at as usize), 4 * count, one());
                }
                wait(one(), parity); //@ expect_whole
                if t < count { *out.add((at + t) as usize) = stage(0).add(t).read(); }
                fence_proxy_async_shared_cta();
                sync_threads();
                parity ^= 1;
                at += N;
            }
        }
    }
}

kernel! {
    /// The parity does not change: the second turn does not wait. Grid 1, block 64.
    pub unsafe fn parity(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(one(), 1); fence_mbarrier_init_release_cluster(); }
            sync_threads();
            for i in 0..turns {
                if t == 0 {
                    mbarrier_arrive_expect_tx(one(), 4 * N);
                    cp_async_bulk_shared_cluster_global(stage(0), x.add((i * N) as usize), 4 * N, one()); //@ parity
                }
                wait(one(), if WRONG { 0 } else { i % 2 });
                *out.add((i * N + t) as usize) = stage(0).add(t).read(); //@ parity
                fence_proxy_async_shared_cta();
                sync_threads();
            }
        }
    }
}

kernel! {
    /// Others wait at a barrier before it is initialised. Grid 1, block 64.
    pub unsafe fn init_race(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 {
                mbarrier_init(one(), 1); //@ init_race
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(one(), 4 * N);
                cp_async_bulk_shared_cluster_global(stage(0), x, 4 * N, one());
            }
            if !WRONG { sync_threads(); }
            wait(one(), 0); //@ init_race
            *out.add(t as usize) = stage(0).add(t).read();
        }
    }
}

kernel! {
    /// DeepEP 642, TransformerEngine 2695: a stage is read by threads and filled by the next copy without a proxy fence. Grid 1, block 64.
    pub unsafe fn no_proxy_fence(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(one(), 1); fence_mbarrier_init_release_cluster(); }
            sync_threads();
            for i in 0..turns {
                if t == 0 {
                    mbarrier_arrive_expect_tx(one(), 4 * N);
                    cp_async_bulk_shared_cluster_global(stage(0), x.add((i * N) as usize), 4 * N, one()); //@ no_proxy_fence
                }
                wait(one(), i % 2);
                *out.add((i * N + t) as usize) = stage(0).add(t).read(); //@ no_proxy_fence
                if !WRONG { fence_proxy_async_shared_cta(); }
                sync_threads();
            }
        }
    }
}

kernel! {
    /// FlashKDA 24: no proxy fence at all before a store from shared memory.
    pub unsafe fn no_fence_store(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = outgoing().cast::<u32>();
            p.add(t).write(*x.add(t as usize) * 2); //@ no_fence_store
            if !WRONG { fence_proxy_async_shared_cta(); }
            sync_threads();
            if t == 0 {
                cp_async_bulk_global_shared(out, p, 4 * N); //@ no_fence_store
                cp_async_bulk_commit_group();
                cp_async_bulk_wait_group_read::<0>();
            }
        }
    }
}

kernel! {
    /// The buffer of a bulk store is written anew before it has been read. Grid 1, block 64.
    pub unsafe fn store_reused(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            let p = outgoing().cast::<u32>();
            for i in 0..turns {
                p.add(t).write(*x.add((i * N + t) as usize) + i); //@ store_reused
                fence_proxy_async_shared_cta();
                sync_threads();
                if t == 0 {
                    cp_async_bulk_global_shared(out.add((i * N) as usize), p, 4 * N); //@ store_reused
                    cp_async_bulk_commit_group();
                    if WRONG { cp_async_bulk_wait_group_read::<1>(); } else { cp_async_bulk_wait_group_read::<0>(); }
                }
                sync_threads();
            }
            cp_async_bulk_wait_group_read::<0>();
        }
    }
}

kernel! {
    /// The block ends before its bulk store has read shared memory. Grid 2, block 64.
    pub unsafe fn exit_before_store(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = outgoing().cast::<u32>();
            p.add(t).write(*x.add(global_index() as usize) * 2);
            fence_proxy_async_shared_cta();
            sync_threads();
            if t == 0 {
                cp_async_bulk_global_shared(out.add((block_idx_x() * N) as usize), p, 4 * N); //@ exit_before_store
                cp_async_bulk_commit_group();
                if !WRONG { cp_async_bulk_wait_group_read::<0>(); }
            }
        }
    }
}

kernel! {
    /// The size of a bulk copy is no multiple of 16. Grid 1, block 64.
    pub unsafe fn size(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            let bytes = if WRONG { 4 * n } else { (4 * n + 15) & !15 };
            if t == 0 {
                mbarrier_init(one(), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(one(), bytes);
                cp_async_bulk_shared_cluster_global(stage(0), x, bytes, one()); //@ size
            }
            sync_threads();
            wait(one(), 0);
            if t < n { *out.add(t as usize) = stage(0).add(t).read(); }
        }
    }
}
