//! Right kernels that look suspicious.

use crate::common::*;
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

shared! {
    pub(crate) fn stages() -> [Stage; 4];
    pub(crate) fn full() -> [Mbarrier; 4];
    pub(crate) fn empty() -> [Mbarrier; 4];
    pub(crate) fn warps() -> [u32; 32];
    pub(crate) fn line() -> [u32; 256];
    pub(crate) fn last() -> u32;
    pub(crate) fn bins() -> [u32; 64];
}

/// A lock of tickets.
#[derive(Clone, Copy)]
pub(crate) struct Ticket {
    next: *mut u32,
    serving: *mut u32,
}
impl Ticket {
    #[inline(always)]
    unsafe fn with<R>(self, f: impl FnOnce() -> R) -> R {
        unsafe {
            let mine = ptx!(atom.relaxed.gpu.global.add.u32[self.next], 1);
            while ptx!(ld.acquire.gpu.global.u32[self.serving]) != mine {
                pause();
            }
            let r = f();
            ptx!(st.release.gpu.global.u32[self.serving], mine + 1);
            r
        }
    }
}

kernel! {
    /// Look-back by one word of 64 bits that has state and value, all relaxed. Grid 8, block 32.
    pub unsafe fn packed_lookback(x: *const u32, tiles: *mut u64, out: *mut u32) {
        unsafe {
            let b = block_idx_x();
            let own = warp_inclusive_sum(*x.add(global_index() as usize));
            let all = Lanes::<32>::of_warp().shuffle(own, 31);
            let mut before = 0;
            if thread_idx_x() == 0 {
                ptx!(st.relaxed.gpu.global.u64 [tiles.add(b as usize)], (1 << 32) | all as u64);
                let mut i = b;
                while i > 0 {
                    let w = ptx!(ld.relaxed.gpu.global.u64 [tiles.add(i as usize - 1)]);
                    match w >> 32 {
                        0 => pause(),
                        1 => { before += w as u32; i -= 1; }
                        _ => { before += w as u32; break; }
                    }
                }
                ptx!(st.relaxed.gpu.global.u64 [tiles.add(b as usize)], (2 << 32) | (before + all) as u64);
            }
            before = Lanes::<32>::of_warp().shuffle(before, 0);
            *out.add(global_index() as usize) = before + own;
        }
    }
}

kernel! {
    /// A lock of tickets around plain accesses, by a closure. Grid 4, block 64: the first lane of each warp.
    pub unsafe fn ticket_lock(next: *mut u32, serving: *mut u32, sum: *mut u32) {
        unsafe {
            let lock = Ticket { next, serving };
            if lane_id() == 0 { lock.with(|| *sum += 1); }
        }
    }
}

kernel! {
    /// A seqlock of relaxed words and fences. Grid 3, block 1.
    pub unsafe fn seqlock(seq: *mut u32, data: *mut u32, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                for i in 1..6 {
                    ptx!(st.relaxed.gpu.global.u32 [seq], 2 * i - 1);
                    fence_acq_rel::<Gpu>();
                    ptx!(st.relaxed.gpu.global.u32 [data], i);
                    ptx!(st.relaxed.gpu.global.u32 [data.add(1)], 7 * i);
                    fence_acq_rel::<Gpu>();
                    ptx!(st.relaxed.gpu.global.u32 [seq], 2 * i);
                }
            } else {
                loop {
                    let before = ptx!(ld.relaxed.gpu.global.u32 [seq]);
                    fence_acq_rel::<Gpu>();
                    let a = ptx!(ld.relaxed.gpu.global.u32 [data]);
                    let b = ptx!(ld.relaxed.gpu.global.u32 [data.add(1)]);
                    fence_acq_rel::<Gpu>();
                    if before % 2 == 0 && ptx!(ld.relaxed.gpu.global.u32 [seq]) == before {
                        // Either is right: it is seven times the other.
                        *out.add(block_idx_x() as usize) = (b == 7 * a) as u32;
                        break;
                    }
                    pause();
                }
            }
        }
    }
}

kernel! {
    /// A stack of Treiber's with counted heads in 64 bits: block 0 pushes, others pop. Grid 3, block 32.
    pub unsafe fn stack(head: *mut u64, next: *mut u32, values: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if block_idx_x() == 0 {
                *values.add(t as usize) = 100 + t;
                let mut old = ptx!(ld.relaxed.gpu.global.u64 [head]);
                loop {
                    ptx!(st.relaxed.gpu.global.u32 [next.add(t as usize)], old as u32);
                    let new = ((old >> 32) + 1) << 32 | (t as u64 + 1);
                    let seen = ptx!(atom.acq_rel.gpu.global.cas.b64 [head], old, new);
                    if seen == old { break; }
                    old = seen;
                }
            } else if block_idx_x() == 1 && t < 16 || block_idx_x() == 2 && t >= 16 {
                loop {
                    let old = ptx!(ld.acquire.gpu.global.u64 [head]);
                    if old as u32 == 0 { pause(); continue; }
                    let node = old as u32 - 1;
                    let after = ptx!(ld.relaxed.gpu.global.u32 [next.add(node as usize)]);
                    let new = ((old >> 32) + 1) << 32 | after as u64;
                    if ptx!(atom.acq_rel.gpu.global.cas.b64 [head], old, new) == old {
                        *out.add(node as usize) = *values.add(node as usize);
                        break;
                    }
                }
            }
        }
    }
}

kernel! {
    /// The last block adds up, with one atomic that acquires and releases. Grid 4, block 64.
    pub unsafe fn last_block(x: *const u32, part: *mut u32, count: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            *part.add(global_index() as usize) = *x.add(global_index() as usize) + 1;
            sync_threads();
            if t == 0 {
                let n = ptx!(atom.acq_rel.gpu.global.add.u32 [count], 1);
                last().write((n == grid_dim_x() - 1) as u32);
            }
            sync_threads();
            if last().read() == 1 {
                let mut sum = 0;
                let mut i = t;
                while i < grid_dim_x() * 64 { sum += *part.add(i as usize); i += 64; }
                let all = block_sum(sum, warps());
                if t == 0 { *out = all; *count = 0; }
            }
        }
    }
}

kernel! {
    /// A grid barrier used three times, by a count that only grows. Grid 4, block 32.
    pub unsafe fn grid_barrier(count: *mut u32, a: *mut u32, b: *mut u32) {
        unsafe {
            let (n, i) = (grid_dim_x() * 32, global_index());
            for round in 0..3u32 {
                let (from, to) = if round % 2 == 0 { (a, b) } else { (b, a) };
                *to.add(i as usize) = *from.add(((i + 33) % n) as usize) + 1;
                sync_threads();
                if thread_idx_x() == 0 {
                    ptx!(red.release.gpu.global.add.u32 [count], 1);
                    while ptx!(ld.acquire.gpu.global.u32 [count]) < (round + 1) * grid_dim_x() { pause(); }
                }
                sync_threads();
            }
        }
    }
}

kernel! {
    /// Peterson's lock of two blocks by `fence.sc`. Grid 2, block 1.
    pub unsafe fn peterson(want: *mut u32, turn: *mut u32, sum: *mut u32) {
        unsafe {
            let me = block_idx_x();
            let (mine, theirs) = (want.add(me as usize), want.add(1 - me as usize));
            for _ in 0..4 {
                ptx!(st.relaxed.gpu.global.u32 [mine], 1);
                ptx!(atom.acq_rel.gpu.global.exch.b32 [turn], 1 - me);
                fence_sc::<Gpu>();
                while ptx!(ld.acquire.gpu.global.u32 [theirs]) == 1 && ptx!(ld.acquire.gpu.global.u32 [turn]) == 1 - me { pause(); }
                *sum += 1;
                ptx!(st.release.gpu.global.u32 [mine], 0);
            }
        }
    }
}

kernel! {
    /// Lanes with the same key add by one atomic of their leader. Grid 2, block 64.
    pub unsafe fn aggregated(keys: *const u32, bins: *mut u32, place: *mut u32) {
        unsafe {
            let key = *keys.add(global_index() as usize) % 5;
            let peers = match_any_sync_b32(key, u32::MAX);
            let leader = peers.trailing_zeros();
            let rank = (peers & ((1 << lane_id()) - 1)).count_ones();
            let mut base = 0;
            if lane_id() == leader { base = ptx!(atom.relaxed.gpu.global.add.u32 [bins.add(key as usize)], peers.count_ones()); }
            base = Lanes::<32>::of_mask(u32::MAX).shuffle(base, leader);
            *place.add(global_index() as usize) = base + rank;
        }
    }
}

kernel! {
    /// Threads that are done end before a barrier of the others. Grid 1, block 128.
    pub unsafe fn early_exit(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            if t >= n { return; }
            line().cast::<u32>().add(t).write(*x.add(t as usize));
            sync_threads();
            *out.add(t as usize) = line().cast::<u32>().add(n - 1 - t).read();
        }
    }
}

kernel! {
    /// All lanes store one value by one instruction, and one reads after a barrier. Grid 1, block 64.
    pub unsafe fn same_value(x: *const u32, out: *mut u32) {
        unsafe {
            if *x.add(thread_idx_x() as usize) > 10 { last().write(1); }
            if thread_idx_x() < 2 { line().cast::<u32>().add(7).write(*x); }
            sync_threads();
            *out.add(thread_idx_x() as usize) = last().read() + line().cast::<u32>().add(7).read();
        }
    }
}

kernel! {
    /// Producers and consumers by named barriers that some arrive at. Grid 1, block 64.
    pub unsafe fn named_ring(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let (t, p) = (thread_idx_x() % 32, line().cast::<u32>());
            if thread_idx_x() < 32 {
                for i in 0..turns {
                    let s = i % 2;
                    if i >= 2 { bar_sync_count(3 + s, 64); } // empty
                    p.add(s * 32 + t).write(*x.add((i * 32 + t) as usize));
                    bar_arrive(1 + s, 64); // full
                }
            } else {
                for i in 0..turns {
                    let s = i % 2;
                    bar_sync_count(1 + s, 64);
                    *out.add((i * 32 + t) as usize) = p.add(s * 32 + 31 - t).read();
                    if i + 2 < turns { bar_arrive(3 + s, 64); }
                }
            }
        }
    }
}

kernel! {
    /// A tile is transposed by one warp, with its own barrier alone. Grid 1, block 64.
    pub unsafe fn warp_transpose(x: *const u32, out: *mut u32) {
        unsafe {
            let (warp, lane) = (thread_idx_x() / 32, lane_id());
            let p = line().cast::<u32>().add(warp * 64);
            for part in 0..3 {
                let from = ((part * 2 + warp) * 64) as usize;
                for k in 0..2 { p.add(k * 32 + lane).write(*x.add(from + (k * 32 + lane) as usize)); }
                sync_warp();
                for k in 0..2 {
                    let i = k * 32 + lane;
                    *out.add(from + i as usize) = p.add(i % 8 * 8 + i / 8).read();
                }
                sync_warp();
            }
        }
    }
}

kernel! {
    /// Three stages of `cp.async` with one barrier a turn. Grid 1, block 64.
    pub unsafe fn three_stages(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            let stage = |i: u32| stages().cast::<Stage>().add(i % 3).cast::<u32>();
            let bring = |i: u32| {
                if i < turns { cp_async_ca::<NoPrefetch>().copy(stage(i).add(t), x.add((i * 64 + t) as usize)); }
                cp_async_commit_group();
            };
            bring(0);
            bring(1);
            for i in 0..turns {
                cp_async_wait_group::<1>();
                sync_threads();
                bring(i + 2);
                *out.add((i * 64 + t) as usize) = stage(i).add(63 - t).read();
            }
        }
    }
}

kernel! {
    /// A ring of four stages: bulk copies by one elected thread of a warp, two consumer warps. Grid 2, block 96.
    pub unsafe fn bulk_ring(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            let (full, empty) = (full().cast::<Mbarrier>(), empty().cast::<Mbarrier>());
            let stage = |s: u32| stages().cast::<Stage>().add(s).cast::<u32>();
            let (x, out) = (x.add((block_idx_x() * turns * 64) as usize), out.add((block_idx_x() * turns * 64) as usize));
            if t == 0 {
                for s in 0..4 { mbarrier_init(full.add(s), 1); mbarrier_init(empty.add(s), 2); }
                fence_mbarrier_init_release_cluster();
            }
            sync_threads();
            if t / 32 == 2 {
                if elect_sync(u32::MAX).1 {
                    let (mut s, mut phase) = (0, 1);
                    for i in 0..turns {
                        wait(empty.add(s), phase);
                        mbarrier_arrive_expect_tx(full.add(s), 256);
                        cp_async_bulk_shared_cluster_global(stage(s), x.add((i * 64) as usize), 256, full.add(s));
                        s += 1;
                        if s == 4 { s = 0; phase ^= 1; }
                    }
                }
            } else {
                let (mut s, mut phase) = (0, 0);
                for i in 0..turns {
                    wait(full.add(s), phase);
                    *out.add((i * 64 + t) as usize) = stage(s).add(63 - t).read();
                    fence_proxy_async_shared_cta();
                    sync_warp();
                    if lane_id() == 0 { mbarrier_arrive(empty.add(s)); }
                    s += 1;
                    if s == 4 { s = 0; phase ^= 1; }
                }
            }
        }
    }
}
