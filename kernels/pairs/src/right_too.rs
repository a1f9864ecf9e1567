//! Right kernels that look suspicious, of copies, clusters and queues.

use crate::common::*;
use crate::right::{bins, full, last, line, stages, warps};
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

kernel! {
    /// A cluster's sum through its blocks' shared memory, with the barrier in two steps. Grid 4, block 64.
    #[cluster_size(4)]
    pub unsafe fn cluster_sum(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let sum = block_sum(*x.add(global_index() as usize), warps());
            if t == 0 { last().write(sum); }
            barrier_cluster_arrive();
            let own = *x.add(t as usize);
            barrier_cluster_wait();
            let mut all = 0;
            for rank in 0..4 { all += ptx!(ld.shared::cluster.u32 [shared_of(last(), rank)]); }
            barrier_cluster_arrive();
            *out.add(global_index() as usize) = all + own;
            barrier_cluster_wait();
        }
    }
}

kernel! {
    /// `st.async` around a ring of blocks, twice, and a barrier of two phases. Grid 4, block 32.
    #[cluster_size(4)]
    pub unsafe fn st_async_ring(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = line().cast::<u32>();
            let bar = full().cast::<Mbarrier>();
            if t == 0 {
                mbarrier_init(bar, 1);
                fence_mbarrier_init_release_cluster();
            }
            sync_cluster();
            let right = (cluster_rank() + 1) % 4;
            let mut v = cluster_rank() * 100 + t;
            for turn in 0..2 {
                if t == 0 { mbarrier_arrive_expect_tx(bar, 128); }
                st_async_shared_cluster(shared_of(p.add(turn * 32 + t), right), v, shared_of(bar, right));
                while !mbarrier_try_wait_parity_as::<order::Acquire<Cluster>>(bar, turn) { pause(); }
                v = p.add(turn * 32 + 31 - t).read();
            }
            *out.add(global_index() as usize) = v;
            sync_cluster();
        }
    }
}

kernel! {
    /// A queue of Vyukov's: bounded, many producers and consumers, a number for each slot. Grid 4, block 16; the numbers begin with iota.
    pub unsafe fn vyukov(numbers: *mut u32, slots: *mut u32, tail: *mut u32, head: *mut u32, out: *mut u32) {
        const SIZE: u32 = 8;
        unsafe {
            let me = global_index();
            if me < 32 {
                let mut at = ptx!(ld.relaxed.gpu.global.u32 [tail]);
                loop {
                    let number = ptx!(ld.acquire.gpu.global.u32 [numbers.add((at % SIZE) as usize)]);
                    let ahead = number.wrapping_sub(at) as i32;
                    if ahead == 0 {
                        let seen = ptx!(atom.relaxed.gpu.global.cas.b32 [tail], at, at + 1);
                        if seen == at { break; }
                        at = seen;
                    } else {
                        if ahead < 0 { pause(); }
                        at = ptx!(ld.relaxed.gpu.global.u32 [tail]);
                    }
                }
                *slots.add((at % SIZE) as usize) = me + 1;
                ptx!(st.release.gpu.global.u32 [numbers.add((at % SIZE) as usize)], at + 1);
            } else {
                let mut at = ptx!(ld.relaxed.gpu.global.u32 [head]);
                loop {
                    let number = ptx!(ld.acquire.gpu.global.u32 [numbers.add((at % SIZE) as usize)]);
                    let ahead = number.wrapping_sub(at + 1) as i32;
                    if ahead == 0 {
                        let seen = ptx!(atom.relaxed.gpu.global.cas.b32 [head], at, at + 1);
                        if seen == at { break; }
                        at = seen;
                    } else {
                        if ahead < 0 { pause(); }
                        at = ptx!(ld.relaxed.gpu.global.u32 [head]);
                    }
                }
                let v = *slots.add((at % SIZE) as usize);
                ptx!(st.release.gpu.global.u32 [numbers.add((at % SIZE) as usize)], at + SIZE);
                ptx!(red.relaxed.gpu.global.add.u32 [out.add(v as usize)], 1);
            }
        }
    }
}

kernel! {
    /// Dynamic shared memory carved into three arrays of other types. Grid 1, block 64, shared 1024.
    pub unsafe fn carved_again(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let bytes = dynamic_shared::<u8>();
            let a = bytes.cast::<u64>();
            let b = bytes.add(512).cast::<u32>();
            let c = bytes.add(512 + 256).cast::<u16>();
            a.add(t).write(*x.add(t as usize) as u64);
            b.add(t).write(t);
            c.add(t).write(t as u16 + 1);
            sync_threads();
            *out.add(t as usize) = a.add(63 - t).read() as u32 + b.add(63 - t).read() + c.add(63 - t).read() as u32;
        }
    }
}

kernel! {
    /// `block_sum` in a loop, whose memory is used at once again. Grid 1, block 128.
    pub unsafe fn block_sums(x: *const u32, out: *mut u32, rows: u32) {
        unsafe {
            for row in 0..rows {
                let v = *x.add((row * 128 + thread_idx_x()) as usize);
                let sum = block_sum(v, warps());
                let most = block_max(v, warps());
                if thread_idx_x() == 0 { *out.add(row as usize) = sum + most; }
            }
        }
    }
}

kernel! {
    /// A histogram in shared memory, and then in global memory, both by `red`. Grid 2, block 64.
    pub unsafe fn histogram_again(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = bins().cast::<u32>();
            p.add(t).write(0);
            sync_threads();
            ptx!(red.shared.add.u32 [p.add(*x.add(global_index() as usize) % 64)], 1);
            sync_threads();
            ptx!(red.relaxed.gpu.global.add.u32 [out.add(t as usize)], p.add(t).read());
        }
    }
}

kernel! {
    /// One producer publishes a pointer, a reader follows it after an acquire. Grid 2, block 1.
    pub unsafe fn publish_pointer(heap: *mut u32, slot: *mut u64, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                for i in 0..4 { *heap.add(8 + i) = 50 + i as u32; }
                ptx!(st.release.gpu.global.u64 [slot], heap.add(8) as u64);
            } else {
                let mut p;
                loop {
                    p = ptx!(ld.acquire.gpu.global.u64 [slot]);
                    if p != 0 { break; }
                    pause();
                }
                for i in 0..4 { *out.add(i) = *(p as *const u32).add(i); }
            }
        }
    }
}

kernel! {
    /// A work-stealing deque of Chase and Lev: the owner is block 0, thieves the others. Grid 3, block 1.
    pub unsafe fn chase_lev(top: *mut u32, bottom: *mut u32, tasks: *mut u32, done: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                for i in 0..8u32 {
                    let b = ptx!(ld.relaxed.gpu.global.u32 [bottom]);
                    ptx!(st.relaxed.gpu.global.u32 [tasks.add(b as usize)], i);
                    fence_acq_rel::<Gpu>();
                    ptx!(st.relaxed.gpu.global.u32 [bottom], b + 1);
                }
                loop {
                    let b = ptx!(ld.relaxed.gpu.global.u32 [bottom]).wrapping_sub(1);
                    ptx!(st.relaxed.gpu.global.u32 [bottom], b);
                    fence_sc::<Gpu>();
                    let t = ptx!(ld.relaxed.gpu.global.u32 [top]);
                    let left = b.wrapping_sub(t) as i32;
                    if left < 0 { ptx!(st.relaxed.gpu.global.u32 [bottom], b.wrapping_add(1)); break; }
                    let task = ptx!(ld.relaxed.gpu.global.u32 [tasks.add(b as usize)]);
                    if left == 0 {
                        fence_sc::<Gpu>();
                        let won = ptx!(atom.relaxed.gpu.global.cas.b32 [top], t, t + 1) == t;
                        ptx!(st.relaxed.gpu.global.u32 [bottom], b + 1);
                        if won { ptx!(red.relaxed.gpu.global.add.u32 [done.add(task as usize)], 1); }
                        break;
                    }
                    ptx!(red.relaxed.gpu.global.add.u32 [done.add(task as usize)], 1);
                }
            } else {
                for _ in 0..6 {
                    let t = ptx!(ld.acquire.gpu.global.u32 [top]);
                    fence_sc::<Gpu>();
                    let b = ptx!(ld.acquire.gpu.global.u32 [bottom]);
                    if (b.wrapping_sub(t) as i32) > 0 {
                        let task = ptx!(ld.relaxed.gpu.global.u32 [tasks.add(t as usize)]);
                        fence_sc::<Gpu>();
                        if ptx!(atom.relaxed.gpu.global.cas.b32 [top], t, t + 1) == t {
                            ptx!(red.relaxed.gpu.global.add.u32 [done.add(task as usize)], 1);
                        }
                    }
                }
            }
        }
    }
}

kernel! {
    /// A lock of MCS: each waits at a place of its own. Grid 4, block 1.
    pub unsafe fn mcs(tail: *mut u32, next: *mut u32, locked: *mut u32, sum: *mut u32) {
        unsafe {
            let me = block_idx_x() + 1;
            let (my_next, my_lock) = (next.add(me as usize), locked.add(me as usize));
            for _ in 0..3 {
                ptx!(st.relaxed.gpu.global.u32 [my_next], 0);
                ptx!(st.relaxed.gpu.global.u32 [my_lock], 1);
                let before = ptx!(atom.acq_rel.gpu.global.exch.b32 [tail], me);
                if before != 0 {
                    ptx!(st.release.gpu.global.u32 [next.add(before as usize)], me);
                    while ptx!(ld.acquire.gpu.global.u32 [my_lock]) == 1 { pause(); }
                }
                *sum += 1;
                if ptx!(atom.release.gpu.global.cas.b32 [tail], me, 0) != me {
                    let mut after;
                    loop {
                        after = ptx!(ld.acquire.gpu.global.u32 [my_next]);
                        if after != 0 { break; }
                        pause();
                    }
                    ptx!(st.release.gpu.global.u32 [locked.add(after as usize)], 0);
                }
            }
        }
    }
}

kernel! {
    /// A stencil with a halo through shared memory, the warp's own part by shuffles. Grid 2, block 64.
    pub unsafe fn halo(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let (t, i) = (thread_idx_x(), global_index());
            let p = line().cast::<u32>();
            p.add(t + 1).write(*x.add(i as usize));
            if t == 0 { p.write(if i > 0 { *x.add(i as usize - 1) } else { 0 }); }
            if t == 63 { p.add(65).write(if i + 1 < n { *x.add(i as usize + 1) } else { 0 }); }
            sync_threads();
            *out.add(i as usize) = p.add(t).read() + p.add(t + 1).read() + p.add(t + 2).read();
        }
    }
}

kernel! {
    /// A bulk store's buffer is used in turns, two of them, with `wait_group.read 1`. Grid 1, block 64.
    pub unsafe fn two_buffers(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            for i in 0..turns {
                let p = stages().cast::<Stage>().add(i % 2).cast::<u32>();
                if t == 0 { cp_async_bulk_wait_group_read::<1>(); }
                sync_threads();
                p.add(t).write(*x.add((i * 64 + t) as usize) + 1);
                fence_proxy_async_shared_cta();
                sync_threads();
                if t == 0 {
                    cp_async_bulk_global_shared(out.add((i * 64) as usize), p, 256);
                    cp_async_bulk_commit_group();
                }
            }
            if t == 0 { cp_async_bulk_wait_group_read::<0>(); }
        }
    }
}

kernel! {
    /// A hash table that takes keys by compare and swap, values by `atomicAdd` (no order is needed). Grid 2, block 64.
    pub unsafe fn hash_add(x: *const u32, keys: *mut u32, sums: *mut u32) {
        unsafe {
            let key = *x.add(global_index() as usize) % 20 + 1;
            let mut at = key.wrapping_mul(0x9e37_79b1) >> 26;
            loop {
                let old = ptx!(atom.relaxed.gpu.global.cas.b32 [keys.add(at as usize)], 0, key);
                if old == 0 || old == key {
                    ptx!(red.relaxed.gpu.global.add.u32 [sums.add(at as usize)], key);
                    break;
                }
                at = (at + 1) % 64;
            }
        }
    }
}

kernel! {
    /// Warps take rows by a count in shared memory. Grid 1, block 128.
    pub unsafe fn dynamic_rows(x: *const u32, out: *mut u32, rows: u32) {
        unsafe {
            if thread_idx_x() == 0 { last().write(0); }
            sync_threads();
            loop {
                let mut row = 0;
                if lane_id() == 0 { row = ptx!(atom.relaxed.cta.shared.add.u32 [last()], 1); }
                row = Lanes::<32>::of_warp().shuffle(row, 0);
                if row >= rows { break; }
                let sum = warp_sum(*x.add((row * 32 + lane_id()) as usize));
                if lane_id() == 0 { *out.add(row as usize) = sum; }
            }
        }
    }
}
