//! Stages and proxies.

use crate::WRONG;
use crate::common::*;
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

shared! {
    pub(crate) fn stage() -> [Stage; 4];
    pub(crate) fn full() -> [Mbarrier; 4];
    pub(crate) fn empty() -> [Mbarrier; 4];
    pub(crate) fn words() -> [u32; 256];
    pub(crate) fn warps() -> [u32; 32];
    pub(crate) fn count() -> u32;
    pub(crate) fn sense() -> u32;
}

#[inline(always)]
pub(crate) fn place(s: u32) -> SharedPtr<u32> {
    stage().cast::<Stage>().add(s).cast::<u32>()
}
#[inline(always)]
pub(crate) fn full_at(s: u32) -> SharedPtr<Mbarrier> {
    full().cast::<Mbarrier>().add(s)
}
#[inline(always)]
pub(crate) fn empty_at(s: u32) -> SharedPtr<Mbarrier> {
    empty().cast::<Mbarrier>().add(s)
}
#[inline(always)]
pub(crate) unsafe fn wait_cluster(bar: SharedPtr<Mbarrier>, parity: u32) {
    while !unsafe { mbarrier_try_wait_parity_as::<order::Acquire<Cluster>>(bar, parity) } {
        pause();
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) kind: u8,
    pub(crate) value: u32,
}

#[inline(always)]
pub(crate) unsafe fn set(p: *mut u32) {
    unsafe { *p = 1 };
}

pub(crate) trait Shape {
    fn area(&self, t: u32) -> u32;
}
pub(crate) struct Square(pub(crate) u32);
pub(crate) struct Circle(pub(crate) u32);
impl Shape for Square {
    #[inline(never)]
    fn area(&self, t: u32) -> u32 {
        self.0 * self.0 + t
    }
}
impl Shape for Circle {
    #[inline(never)]
    fn area(&self, t: u32) -> u32 {
        3 * self.0 * self.0 + t
    }
}

#[inline(never)]
pub(crate) fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

pub(crate) static COUNTER: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
pub(crate) static TABLE: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];

kernel! {
    /// What another block has stored is brought by a bulk copy, with flags alone. Grid 2, block 64.
    pub unsafe fn global_proxy(data: *mut u32, flag: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if block_idx_x() == 0 {
                *data.add(t as usize) = t * 3; //@ global_proxy
                if !WRONG { fence_proxy_async(); }
                sync_threads();
                if t == 0 { ptx!(st.release.gpu.global.u32 [flag], 1); }
            } else {
                if t == 0 {
                    mbarrier_init(full_at(0), 1);
                    fence_mbarrier_init_release_cluster();
                    while ptx!(ld.acquire.gpu.global.u32 [flag]) == 0 { pause(); }
                    if !WRONG { fence_proxy_async(); }
                    mbarrier_arrive_expect_tx(full_at(0), 256);
                    cp_async_bulk_shared_cluster_global(place(0), data, 256, full_at(0)); //@ global_proxy
                }
                sync_threads();
                wait(full_at(0), 0);
                *out.add(t as usize) = place(0).add(t).read();
            }
        }
    }
}

kernel! {
    /// A cluster's multicast ring: `empty` counts this block's warps alone, the other block still reads. Grid 2, block 64.
    #[cluster_size(2)]
    pub unsafe fn multicast_ring(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let (t, rank) = (thread_idx_x(), cluster_rank());
            if t == 0 {
                for s in 0..2 {
                    mbarrier_init(full_at(s), 1);
                    mbarrier_init(empty_at(s), if WRONG { 1 } else { 2 }); //@ multicast_ring
                }
                fence_mbarrier_init_release_cluster();
            }
            sync_cluster();
            if t == 0 {
                for i in 0..turns {
                    let (s, phase) = (i % 2, i / 2 % 2);
                    if rank == 0 { wait_cluster(empty_at(s), phase ^ 1); } else if i >= 2 { wait_cluster(full_at(s), phase ^ 1); }
                    mbarrier_arrive_expect_tx(full_at(s), 256);
                    if rank == 0 {
                        cp_async_bulk_shared_cluster_global_multicast(place(s), x.add((i * 64) as usize), 256, full_at(s), 3); //@ multicast_ring
                    }
                }
            } else if t >= 32 {
                for i in 0..turns {
                    let (s, phase) = (i % 2, i / 2 % 2);
                    wait_cluster(full_at(s), phase);
                    let lane = t - 32;
                    let v = place(s).cast::<V2<u32>>().add(lane).read(); //@ multicast_ring
                    out.add(((rank * turns + i) * 64) as usize).cast::<V2<u32>>().add(lane as usize).write(v);
                    fence_proxy_async_shared_cta();
                    sync_warp();
                    if lane == 0 && (!WRONG || rank == 0) {
                        mbarrier_arrive_as::<order::Release<Cluster>, _>(shared_of(empty_at(s), 0));
                    }
                }
            }
            sync_cluster();
        }
    }
}

kernel! {
    /// Two warps read a stage, one of them gives it back. Grid 1, block 96.
    pub unsafe fn one_arrival(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 {
                for s in 0..2 { mbarrier_init(full_at(s), 1); mbarrier_init(empty_at(s), if WRONG { 1 } else { 2 }); }
                fence_mbarrier_init_release_cluster();
            }
            sync_threads();
            if t == 64 {
                for i in 0..turns {
                    let (s, phase) = (i % 2, i / 2 % 2);
                    wait(empty_at(s), phase ^ 1);
                    mbarrier_arrive_expect_tx(full_at(s), 256);
                    cp_async_bulk_shared_cluster_global(place(s), x.add((i * 64) as usize), 256, full_at(s)); //@ one_arrival
                }
            } else if t < 64 {
                for i in 0..turns {
                    let (s, phase) = (i % 2, i / 2 % 2);
                    wait(full_at(s), phase);
                    *out.add((i * 64 + t) as usize) = place(s).add(t).read(); //@ one_arrival
                    fence_proxy_async_shared_cta();
                    sync_warp();
                    if lane_id() == 0 && (!WRONG || t == 0) { mbarrier_arrive(empty_at(s)); }
                }
            }
        }
    }
}

kernel! {
    /// A buffer is turned around in place. Grid 1, block 64; the second argument is the first.
    pub unsafe fn same_buffer(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x() as usize;
            let v = *x.add(63 - t); //@ same_buffer
            if !WRONG { sync_threads(); }
            *out.add(t) = v; //@ same_buffer
        }
    }
}

kernel! {
    /// A byte is changed by reading and writing its word. Grid 1, block 64.
    pub unsafe fn bytes_of_words(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let word = out.add((t / 4) as usize);
            if WRONG {
                *word = (*word & !(0xff << (8 * (t % 4)))) | t << (8 * (t % 4)); //@ bytes_of_words
            } else {
                *out.cast::<u8>().add(t as usize) = t as u8;
            }
        }
    }
}

kernel! {
    /// `st.async` counts its bytes at a barrier of its own block instead of the destination's. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn barrier_elsewhere(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            if t == 0 {
                mbarrier_init(full_at(0), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(full_at(0), 128);
            }
            sync_cluster();
            let bar = if WRONG { SharedClusterPtr::of(full_at(0)) } else { shared_of(full_at(0), other) };
            st_async_shared_cluster(shared_of(words().cast::<u32>().add(t), other), t, bar); //@ barrier_elsewhere
            wait_cluster(full_at(0), 0);
            *out.add(global_index() as usize) = words().cast::<u32>().add(31 - t).read(); //@ barrier_elsewhere
            sync_cluster();
        }
    }
}

kernel! {
    /// A copy from this block's shared memory to another's, without a proxy fence. Grid 2, block 64.
    #[cluster_size(2)]
    pub unsafe fn shared_to_shared(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            place(0).add(t).write(t + 100 * other); //@ shared_to_shared
            if t == 0 { mbarrier_init(full_at(0), 1); fence_mbarrier_init_release_cluster(); }
            if !WRONG { fence_proxy_async_shared_cta(); }
            sync_cluster();
            if t == 0 {
                mbarrier_arrive_expect_tx(full_at(0), 256);
                cp_async_bulk_shared_cluster_shared(shared_of(place(1), other), place(0), 256, shared_of(full_at(0), other)); //@ shared_to_shared
            }
            wait_cluster(full_at(0), 0);
            *out.add(global_index() as usize) = place(1).add(t).read();
            sync_cluster();
        }
    }
}

kernel! {
    /// A waiter that is two phases behind: nobody waits for it. Grid 1, block 64.
    pub unsafe fn two_phases(out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(full_at(0), 1); mbarrier_init(empty_at(0), 32); }
            sync_threads();
            if t == 0 {
                for i in 0..turns {
                    if !WRONG && i > 0 { wait(empty_at(0), (i - 1) % 2); }
                    words().cast::<u32>().write(i); //@ two_phases
                    mbarrier_arrive(full_at(0));
                }
            } else if t >= 32 {
                let mut sum = 0;
                for i in 0..turns {
                    wait(full_at(0), i % 2); //@ two_phases
                    sum += words().cast::<u32>().read(); //@ two_phases
                    mbarrier_arrive(empty_at(0));
                }
                *out.add(t as usize - 32) = sum;
            }
        }
    }
}

kernel! {
    /// The seventeenth barrier of a block. Grid 1, block 64.
    pub unsafe fn barrier_16(out: *mut u32, first: u32) {
        unsafe {
            let t = thread_idx_x();
            words().cast::<u32>().add(t).write(t);
            bar_sync_count(first + if WRONG { 8 } else { 7 }, 64); //@ barrier_16
            *out.add(t as usize) = words().cast::<u32>().add(63 - t).read();
        }
    }
}

kernel! {
    /// A sum of the block in a branch of some warps. Grid 1, block 128.
    pub unsafe fn block_sum_in_branch(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            let v = if t < n { *x.add(t as usize) } else { 0 };
            let mut sum = 0;
            if WRONG {
                if t < n { sum = block_sum(v, warps()); } //@ block_sum_in_branch
            } else {
                sum = block_sum(v, warps());
            }
            words().cast::<u32>().add(t).write(sum); //@ block_sum_in_branch
            sync_threads(); //@ block_sum_in_branch
            *out.add(t as usize) = words().cast::<u32>().add(127 - t).read();
        }
    }
}
