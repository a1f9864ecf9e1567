//! More right kernels that look suspicious.

use crate::WRONG;
use crate::common::*;
use crate::stages::{
    COUNTER, Circle, Entry, Shape, Square, TABLE, count, empty_at, fib, full_at, place, sense, warps, words,
};
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

kernel! {
    /// Two blocks add to the same global memory by bulk reductions. Grid 2, block 64.
    pub unsafe fn bulk_reduce(sums: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            place(0).add(t).write(t);
            fence_proxy_async_shared_cta();
            sync_threads();
            if t == 0 {
                cp_reduce_async_bulk_global_shared_add(sums, place(0), 256);
                cp_async_bulk_commit_group();
                cp_async_bulk_wait_group_read::<0>();
            }
        }
    }
}

kernel! {
    /// One memory has two types, one after the other. Grid 1, block 64, shared 256.
    pub unsafe fn reused(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let a = dynamic_shared::<u32>();
            a.add(t).write(*x.add(t as usize));
            sync_threads();
            let v = a.add(63 - t).read();
            sync_threads();
            let b = dynamic_shared::<u16>();
            b.add(2 * t + 1).write(v as u16);
            b.add(2 * t).write(t as u16);
            sync_threads();
            *out.add(t as usize) = b.add(127 - 2 * t).read() as u32;
        }
    }
}

kernel! {
    /// A barrier of the block's warps by atomics in shared memory, with a sense that turns. Grid 1, block 128.
    pub unsafe fn sense_barrier(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { count().write(0); sense().write(0); }
            sync_threads();
            for turn in 0..3u32 {
                words().cast::<u32>().add(t).write(t + turn);
                sync_warp();
                if lane_id() == 0 {
                    if ptx!(atom.acq_rel.cta.shared.add.u32 [count()], 1) == 4 * (2 * turn + 1) - 1 {
                        ptx!(st.release.cta.shared.u32 [sense()], 2 * turn + 1);
                    } else {
                        while ptx!(ld.acquire.cta.shared.u32 [sense()]) < 2 * turn + 1 { pause(); }
                    }
                }
                sync_warp();
                *out.add((turn * 128 + t) as usize) = words().cast::<u32>().add(127 - t).read();
                sync_warp();
                if lane_id() == 0 {
                    if ptx!(atom.acq_rel.cta.shared.add.u32 [count()], 1) == 4 * (2 * turn + 2) - 1 {
                        ptx!(st.release.cta.shared.u32 [sense()], 2 * turn + 2);
                    } else {
                        while ptx!(ld.acquire.cta.shared.u32 [sense()]) < 2 * turn + 2 { pause(); }
                    }
                }
                sync_warp();
            }
        }
    }
}

kernel! {
    /// Look-back by a window of 32 tiles: each lane acquires one. Grid 8, block 32.
    pub unsafe fn window(x: *const u32, state: *mut u32, sums: *mut u32, prefixes: *mut u32, out: *mut u32) {
        unsafe {
            let (b, lane) = (block_idx_x(), lane_id());
            let own = warp_inclusive_sum(*x.add(global_index() as usize));
            let all = Lanes::<32>::of_warp().shuffle(own, 31);
            if lane == 0 {
                *sums.add(b as usize) = all;
                ptx!(st.release.gpu.global.u32 [state.add(b as usize)], 1);
            }
            let mut before = 0;
            let mut end = b;
            while end > 0 {
                let mine = end.wrapping_sub(1 + lane);
                let mut s = 2;
                let mut v = 0;
                if lane < end {
                    loop {
                        s = ptx!(ld.acquire.gpu.global.u32 [state.add(mine as usize)]);
                        if s != 0 { break; }
                        pause();
                    }
                    v = if s == 2 { *prefixes.add(mine as usize) } else { *sums.add(mine as usize) };
                }
                let done = ballot(s == 2);
                let first = done.trailing_zeros();
                before += warp_sum(if lane <= first { v } else { 0 });
                if done != 0 { break; }
                end -= 32;
            }
            if lane == 0 {
                *prefixes.add(b as usize) = before + all;
                ptx!(st.release.gpu.global.u32 [state.add(b as usize)], 2);
            }
            *out.add(global_index() as usize) = before + own;
        }
    }
}

kernel! {
    /// A barrier's memory holds data after `mbarrier.inval`. Grid 1, block 32.
    pub unsafe fn inval(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(full_at(0), 32); }
            sync_warp();
            let state = mbarrier_arrive(full_at(0));
            while !mbarrier_test_wait(full_at(0), state) { nanosleep(20); }
            sync_warp();
            if t == 0 { mbarrier_inval(full_at(0)); }
            sync_warp();
            if t == 3 { full_at(0).cast::<u32>().write(5); }
            sync_warp();
            *out.add(t as usize) = full_at(0).cast::<u32>().read();
        }
    }
}

kernel! {
    /// `cp.async` that arrives at a barrier of two phases without incrementing. Grid 1, block 64.
    pub unsafe fn noinc_ring(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            if t < 2 { mbarrier_init(full_at(t), 64); mbarrier_init(empty_at(t), 64); }
            sync_threads();
            let bring = |i: u32| {
                if i < turns {
                    wait(empty_at(i % 2), i / 2 % 2 ^ 1);
                    cp_async_ca::<NoPrefetch>().copy(place(i % 2).add(t), x.add((i * 64 + t) as usize));
                    cp_async_mbarrier_arrive_noinc(full_at(i % 2));
                }
            };
            bring(0);
            for i in 0..turns {
                bring(i + 1);
                wait(full_at(i % 2), i / 2 % 2);
                *out.add((i * 64 + t) as usize) = place(i % 2).add(63 - t).read();
                mbarrier_arrive(empty_at(i % 2));
            }
        }
    }
}

kernel! {
    /// A queue with a count of what is not done yet; tasks make tasks. Grid 3, block 1.
    pub unsafe fn tasks(queue: *mut u32, head: *mut u32, tail: *mut u32, open: *mut u32, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                ptx!(st.relaxed.gpu.global.u32 [open], 1);
                ptx!(st.release.gpu.global.u32 [queue], 3 + 1);
                ptx!(st.release.gpu.global.u32 [tail], 1);
            }
            let mut mine = u32::MAX;
            loop {
                if mine == u32::MAX {
                    let at = ptx!(atom.relaxed.gpu.global.add.u32 [head], 1);
                    mine = at;
                }
                // Wait for the place to be filled, or for the end.
                let task = ptx!(ld.acquire.gpu.global.u32 [queue.add(mine as usize)]);
                if task == 0 {
                    if ptx!(ld.acquire.gpu.global.u32 [tail]) > 0 && ptx!(ld.acquire.gpu.global.u32 [open]) == 0 { break; }
                    pause();
                    continue;
                }
                mine = u32::MAX;
                let depth = task - 1;
                ptx!(red.relaxed.gpu.global.add.u32 [out.add(depth as usize)], 1);
                if depth > 0 {
                    ptx!(red.relaxed.gpu.global.add.u32 [open], 2);
                    for _ in 0..2 {
                        let at = ptx!(atom.relaxed.gpu.global.add.u32 [tail], 1);
                        ptx!(st.release.gpu.global.u32 [queue.add(at as usize)], depth);
                    }
                }
                ptx!(atom.acq_rel.gpu.global.add.u32 [open], u32::MAX);
            }
        }
    }
}

kernel! {
    /// A bitonic sort of a warp's 64 numbers in shared memory. Grid 1, block 64.
    pub unsafe fn bitonic(x: *const u32, out: *mut u32) {
        unsafe {
            let (warp, lane) = (thread_idx_x() / 32, lane_id());
            let p = words().cast::<u32>().add(64 * warp);
            for k in 0..2 { p.add(lane + 32 * k).write(*x.add((64 * warp + lane + 32 * k) as usize)); }
            let mut size = 2;
            while size <= 64 {
                let mut step = size / 2;
                while step > 0 {
                    sync_warp();
                    let i = 2 * lane - (lane & (step - 1));
                    let (a, b) = (p.add(i).read(), p.add(i + step).read());
                    let up = i & size == 0;
                    if (a > b) == up { p.add(i).write(b); p.add(i + step).write(a); }
                    step /= 2;
                }
                size *= 2;
            }
            sync_warp();
            for k in 0..2 { *out.add((64 * warp + lane + 32 * k) as usize) = p.add(lane + 32 * k).read(); }
        }
    }
}

kernel! {
    /// A hazard pointer: the reader says what it reads, the writer looks before it frees. Grid 2, block 1.
    pub unsafe fn hazard(current: *mut u32, hazard: *mut u32, nodes: *mut u32, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                let mut p;
                loop {
                    p = ptx!(ld.acquire.gpu.global.u32 [current]);
                    ptx!(st.relaxed.gpu.global.u32 [hazard], p + 1);
                    fence_sc::<Gpu>();
                    if ptx!(ld.acquire.gpu.global.u32 [current]) == p { break; }
                    pause();
                }
                *out = *nodes.add(p as usize);
                ptx!(st.release.gpu.global.u32 [hazard], 0);
            } else {
                *nodes.add(1) = 11;
                let old = ptx!(atom.acq_rel.gpu.global.exch.b32 [current], 1);
                fence_sc::<Gpu>();
                while ptx!(ld.acquire.gpu.global.u32 [hazard]) == old + 1 { pause(); }
                *nodes.add(old as usize) = 0xdead;
            }
        }
    }
}

kernel! {
    /// Warps count in a ring of the block: a barrier with `bar.red` says when all have nothing left. Grid 1, block 64.
    pub unsafe fn votes(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let mut i = thread_idx_x();
            let mut sum = 0;
            loop {
                let more = i < n;
                if more { sum += *x.add(i as usize); i += 64 + thread_idx_x(); }
                if !bar_red_or(0, more) { break; }
            }
            *out.add(thread_idx_x() as usize) = sum;
        }
    }
}

kernel! {
    /// A tensor of bytes is packed by four threads into one word, each its own byte. Grid 1, block 64.
    pub unsafe fn own_bytes(x: *const u32, out: *mut u8) {
        unsafe {
            let t = thread_idx_x();
            let p = words().cast::<u8>();
            p.add(t).write(*x.add(t as usize) as u8);
            sync_warp();
            if t % 4 == 0 { out.cast::<u32>().add((t / 4) as usize).write(p.cast::<u32>().add(t / 4).read()); }
        }
    }
}

kernel! {
    /// A copy of bytes of a structure with a gap through global memory, by value. Grid 1, block 32.
    pub unsafe fn gap_again(x: *const u32, table: *mut u64, out: *mut u32) {
        unsafe {
            let t = thread_idx_x() as usize;
            let table = table.cast::<Entry>();
            table.add(t).write(Entry { kind: t as u8, value: *x.add(t) });
            sync_warp();
            let e = table.add(31 - t).read();
            let kept = if e.kind % 2 == 0 { Some(e) } else { None };
            *out.add(t) = match kept { Some(e) => e.value, None => 0 };
        }
    }
}

kernel! {
    /// The first wait of a producer is by a phase that "was before the first one". Grid 1, block 64 - and a consumer without a copy.
    pub unsafe fn parity_one(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(empty_at(0), 32); mbarrier_init(full_at(0), 32); }
            sync_threads();
            for i in 0..3u32 {
                if t < 32 {
                    wait(empty_at(0), i % 2 ^ 1);
                    words().cast::<u32>().add(t).write(t + i);
                    mbarrier_arrive(full_at(0));
                } else {
                    wait(full_at(0), i % 2);
                    *out.add((i * 32 + t - 32) as usize) = words().cast::<u32>().add(63 - t).read();
                    mbarrier_arrive(empty_at(0));
                }
            }
        }
    }
}

kernel! {
    /// Calls by a table of virtual functions, recursion, statics. Grid 2, block 32.
    pub unsafe fn dynamic(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let (a, b) = (Square(t), Circle(t));
            let shape: &dyn Shape = if t % 2 == 0 { &a } else { &b };
            let ticket = COUNTER.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
            *out.add(ticket as usize) = shape.area(t) + fib(t % 8) + TABLE[(t % 8) as usize];
        }
    }
}

kernel! {
    /// Sorting a local array, closures, iterators, u128, Option. Grid 1, block 32.
    pub unsafe fn core(x: *const u32, out: *mut u64) {
        unsafe {
            let t = thread_idx_x();
            let mut a: [u32; 12] = core::array::from_fn(|i| *x.add(((t + i as u32 * 7) % 32) as usize));
            a.sort_unstable();
            let best = a.iter().copied().filter(|v| v % 3 == 1).max();
            let wide = a.iter().fold(1u128, |p, v| p.wrapping_mul(*v as u128 + 1));
            *out.add(t as usize) = best.unwrap_or(0) as u64 ^ (wide >> 64) as u64 ^ wide as u64;
        }
    }
}
