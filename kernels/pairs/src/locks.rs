//! Order between blocks: locks, rings, barriers of the grid.

use crate::WRONG;
use crate::common::*;
use crate::flags::{insert, lookup};
use ptx_intrinsics::fence::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

kernel! {
    /// A spin lock that is given back by a relaxed exchange. Grid 4, block 32.
    pub unsafe fn lock_relaxed_unlock(lock: *mut u32, sum: *mut u32) {
        unsafe {
            if thread_idx_x() == 0 {
                while ptx!(atom.acquire.gpu.global.cas.b32 [lock], 0, 1) != 0 { pause(); }
                *sum += block_idx_x() + 1; //@ lock_relaxed_unlock
                if WRONG {
                    ptx!(atom.relaxed.gpu.global.exch.b32 [lock], 0);
                } else {
                    ptx!(atom.release.gpu.global.exch.b32 [lock], 0);
                }
            }
        }
    }
}

kernel! {
    /// A spin lock that is given back by a plain store.
    pub unsafe fn lock_plain_unlock(lock: *mut u32, sum: *mut u32) {
        unsafe {
            if thread_idx_x() == 0 {
                while ptx!(atom.acquire.gpu.global.cas.b32 [lock], 0, 1) != 0 { pause(); }
                *sum += block_idx_x() + 1;
                fence_acq_rel::<Gpu>();
                if WRONG {
                    *lock = 0; //@ lock_plain_unlock
                } else {
                    ptx!(st.relaxed.gpu.global.u32 [lock], 0);
                }
            }
        }
    }
}

kernel! {
    /// HeCBench 292: a hash table's value is plain, and published by a relaxed compare and swap. Grid 2, block 32.
    pub unsafe fn hash_publish(keys: *mut u32, values: *mut u32, found: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if block_idx_x() == 0 {
                insert(keys, values, t + 1, 100 + t);
            } else {
                *found.add(t as usize) = lookup(keys, values, t + 1);
            }
        }
    }
}

kernel! {
    /// A ring of one producer and one consumer: a slot is given back before it is read. Grid 2, block 1.
    pub unsafe fn ring_early_release(ring: *mut u32, head: *mut u32, tail: *mut u32, out: *mut u32, n: u32) {
        const SIZE: u32 = 4;
        unsafe {
            if block_idx_x() == 0 {
                for i in 0..n {
                    while i.wrapping_sub(ptx!(ld.acquire.gpu.global.u32 [tail])) >= SIZE { pause(); }
                    *ring.add((i % SIZE) as usize) = i * 3; //@ ring_early_release
                    ptx!(st.release.gpu.global.u32 [head], i + 1);
                }
            } else {
                for i in 0..n {
                    while ptx!(ld.acquire.gpu.global.u32 [head]) <= i { pause(); }
                    if WRONG {
                        ptx!(st.release.gpu.global.u32 [tail], i + 1);
                        *out.add(i as usize) = *ring.add((i % SIZE) as usize); //@ ring_early_release
                    } else {
                        *out.add(i as usize) = *ring.add((i % SIZE) as usize);
                        ptx!(st.release.gpu.global.u32 [tail], i + 1);
                    }
                }
            }
        }
    }
}

kernel! {
    /// A ring with the size off by one: the producer may be a slot too far.
    pub unsafe fn ring_off_by_one(ring: *mut u32, head: *mut u32, tail: *mut u32, out: *mut u32, n: u32) {
        const SIZE: u32 = 4;
        unsafe {
            if block_idx_x() == 0 {
                for i in 0..n {
                    let room = if WRONG { SIZE + 1 } else { SIZE };
                    while i.wrapping_sub(ptx!(ld.acquire.gpu.global.u32 [tail])) >= room { pause(); }
                    *ring.add((i % SIZE) as usize) = i * 3; //@ ring_off_by_one
                    ptx!(st.release.gpu.global.u32 [head], i + 1);
                }
            } else {
                for i in 0..n {
                    while ptx!(ld.acquire.gpu.global.u32 [head]) <= i { pause(); }
                    *out.add(i as usize) = *ring.add((i % SIZE) as usize); //@ ring_off_by_one
                    ptx!(st.release.gpu.global.u32 [tail], i + 1);
                }
            }
        }
    }
}

kernel! {
    /// A grid barrier by relaxed atomics. Grid 4, block 32.
    pub unsafe fn grid_barrier_relaxed(count: *mut u32, data: *mut u32, out: *mut u32) {
        unsafe {
            let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
            *data.add(b * 32 + t) = (b * 32 + t) as u32; //@ grid_barrier_relaxed
            sync_threads();
            if t == 0 {
                if !WRONG { fence_acq_rel::<Gpu>(); }
                ptx!(red.relaxed.gpu.global.add.u32 [count], 1);
                while ptx!(ld.relaxed.gpu.global.u32 [count]) < grid_dim_x() { pause(); }
                if !WRONG { fence_acq_rel::<Gpu>(); }
            }
            sync_threads();
            let other = (b + 1) % grid_dim_x() as usize;
            *out.add(b * 32 + t) = *data.add(other * 32 + t); //@ grid_barrier_relaxed
        }
    }
}

kernel! {
    /// A grid barrier to which a block comes without its own barrier before. Grid 4, block 64.
    pub unsafe fn grid_barrier_no_sync(count: *mut u32, data: *mut u32, out: *mut u32) {
        unsafe {
            let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
            *data.add(b * 64 + t) = (b * 64 + t) as u32; //@ grid_barrier_no_sync
            if !WRONG { sync_threads(); }
            if t == 0 {
                ptx!(red.release.gpu.global.add.u32 [count], 1);
                while ptx!(ld.acquire.gpu.global.u32 [count]) < grid_dim_x() { pause(); }
            }
            sync_threads();
            let other = (b + 1) % grid_dim_x() as usize;
            *out.add(b * 64 + t) = *data.add(other * 64 + t); //@ grid_barrier_no_sync
        }
    }
}
