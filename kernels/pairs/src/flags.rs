//! Order between blocks: flags.

use crate::WRONG;
use crate::common::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

pub(crate) trait ReadLike {
    unsafe fn read_volatile_like(self) -> u32;
}
impl ReadLike for *mut u32 {
    #[inline(always)]
    unsafe fn read_volatile_like(self) -> u32 {
        unsafe { ld_global::<NoHint, NoPrefetch>().read(self) } //@ seqlock_again
    }
}

#[inline(never)]
pub(crate) fn last_block(x: *const u32, part: *mut u32, count: *mut u32, out: *mut u32) {
    unsafe {
        let t = thread_idx_x();
        *part.add(global_index() as usize) = *x.add(global_index() as usize) * 2; //@ last_block_no_barrier
        if !WRONG {
            sync_threads();
        }
        if t == 0 {
            fence_acq_rel::<Gpu>();
            if ptx!(atom.relaxed.gpu.global.add.u32[count], 1) == grid_dim_x() - 1 {
                fence_acq_rel::<Gpu>();
                let mut all = 0;
                let mut i = 0;
                while i < grid_dim_x() * block_dim_x() {
                    all += *part.add(i as usize); //@ last_block_no_barrier
                    i += 1;
                }
                *out = all;
            }
        }
    }
}

/// Waits for the state of a tile, and gives its value.
#[inline(always)]
pub(crate) unsafe fn previous(state: *const u32, value: *const u32) -> u32 {
    unsafe {
        if WRONG {
            while ptx!(ld.relaxed.gpu.global.u32[state]) == 0 {
                pause();
            }
        } else {
            while ptx!(ld.acquire.gpu.global.u32[state]) == 0 {
                pause();
            }
        }
        *value //@ lookback
    }
}

#[inline(always)]
pub(crate) unsafe fn publish(state: *mut u32) {
    unsafe {
        if WRONG {
            ptx!(st.relaxed.gpu.global.u32[state], 2);
        } else {
            ptx!(st.release.gpu.global.u32[state], 2);
        }
    }
}

#[inline(never)]
pub(crate) unsafe fn insert(keys: *mut u32, values: *mut u32, key: u32, value: u32) {
    unsafe {
        let mut at = key.wrapping_mul(2654435761) % 64;
        loop {
            // Take a place with a mark, store, then publish.
            if ptx!(atom.relaxed.gpu.global.cas.b32[keys.add(at as usize)], 0, u32::MAX) == 0 {
                *values.add(at as usize) = value; //@ hash_publish
                if WRONG {
                    ptx!(st.relaxed.gpu.global.u32[keys.add(at as usize)], key);
                } else {
                    ptx!(st.release.gpu.global.u32[keys.add(at as usize)], key);
                }
                return;
            }
            at = (at + 1) % 64;
        }
    }
}

#[inline(never)]
pub(crate) unsafe fn lookup(keys: *const u32, values: *const u32, key: u32) -> u32 {
    unsafe {
        let mut at = key.wrapping_mul(2654435761) % 64;
        for _ in 0..64 {
            let there = if WRONG {
                ptx!(ld.relaxed.gpu.global.u32[keys.add(at as usize)])
            } else {
                ptx!(ld.acquire.gpu.global.u32[keys.add(at as usize)])
            };
            if there == key {
                return *values.add(at as usize); //@ hash_publish
            }
            at = (at + 1) % 64;
        }
        0
    }
}

kernel! {
    /// A flag without release or acquire. Grid 2, block 32.
    pub unsafe fn flag_relaxed(data: *mut u32, flag: *mut u32, out: *mut u32) {
        let t = thread_idx_x() as usize;
        unsafe {
            if block_idx_x() == 0 {
                if t == 0 {
                    *data = 42; //@ flag_relaxed
                    if WRONG {
                        ptx!(st.relaxed.gpu.global.u32 [flag], 1);
                    } else {
                        ptx!(st.release.gpu.global.u32 [flag], 1);
                    }
                }
            } else if t == 0 {
                if WRONG {
                    while ptx!(ld.relaxed.gpu.global.u32 [flag]) == 0 { pause(); }
                } else {
                    while ptx!(ld.acquire.gpu.global.u32 [flag]) == 0 { pause(); }
                }
                *out = *data; //@ flag_relaxed
            }
        }
    }
}

kernel! {
    /// The scope is the block's, the threads are of two blocks.
    pub unsafe fn scope_cta(data: *mut u32, flag: *mut u32, out: *mut u32) {
        unsafe {
            if thread_idx_x() != 0 { return; }
            if block_idx_x() == 0 {
                *data = 42; //@ scope_cta
                if WRONG {
                    st_global::<NoHint>().release::<Cta>().write(flag, 1);
                } else {
                    st_global::<NoHint>().release::<Gpu>().write(flag, 1);
                }
            } else {
                if WRONG {
                    while ld_global::<NoHint, NoPrefetch>().acquire::<Cta>().read(flag) == 0 { pause(); }
                } else {
                    while ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(flag) == 0 { pause(); }
                }
                *out = *data; //@ scope_cta
            }
        }
    }
}

kernel! {
    /// vLLM 50941: the fence is before the barrier, and so of one thread's stores only. Grid 2, block 64.
    pub unsafe fn fence_before_barrier(data: *mut u32, flag: *mut u32, out: *mut u32) {
        let t = thread_idx_x() as usize;
        unsafe {
            if block_idx_x() == 0 {
                *data.add(t) = t as u32; //@ fence_before_barrier
                if WRONG {
                    if t == 0 { fence_acq_rel::<Gpu>(); }
                    sync_threads();
                } else {
                    sync_threads();
                    if t == 0 { fence_acq_rel::<Gpu>(); }
                }
                if t == 0 { ptx!(st.relaxed.gpu.global.u32 [flag], 1); }
            } else {
                if t == 0 {
                    while ptx!(ld.relaxed.gpu.global.u32 [flag]) == 0 { pause(); }
                    fence_acq_rel::<Gpu>();
                }
                sync_threads();
                *out.add(t) = *data.add(t); //@ fence_before_barrier
            }
        }
    }
}

kernel! {
    /// aiter 2890: one thread polls relaxed, a barrier, and nobody acquires.
    pub unsafe fn no_acquire_after_poll(data: *mut u32, flag: *mut u32, out: *mut u32) {
        let t = thread_idx_x() as usize;
        unsafe {
            if block_idx_x() == 0 {
                *data.add(t) = t as u32; //@ no_acquire_after_poll
                sync_threads();
                if t == 0 { ptx!(st.release.gpu.global.u32 [flag], 1); }
            } else {
                if t == 0 {
                    while ptx!(ld.relaxed.gpu.global.u32 [flag]) == 0 { pause(); }
                    if !WRONG { fence_acq_rel::<Gpu>(); }
                }
                sync_threads();
                *out.add(t) = *data.add(t); //@ no_acquire_after_poll
            }
        }
    }
}

kernel! {
    /// pytorch 128455: last-block reduction without an acquire after the count. Grid 4, block 32.
    pub unsafe fn last_block_no_acquire(x: *const u32, part: *mut u32, count: *mut u32, out: *mut u32) {
        unsafe {
            let sum = warp_sum(*x.add(global_index() as usize));
            if thread_idx_x() == 0 {
                *part.add(block_idx_x() as usize) = sum; //@ last_block_no_acquire
                fence_acq_rel::<Gpu>();
                let before = ptx!(atom.relaxed.gpu.global.inc.u32 [count], grid_dim_x() - 1);
                if before == grid_dim_x() - 1 {
                    if !WRONG { fence_acq_rel::<Gpu>(); }
                    let mut all = 0;
                    for i in 0..grid_dim_x() as usize {
                        all += *part.add(i); //@ last_block_no_acquire
                    }
                    *out = all;
                }
            }
        }
    }
}

kernel! {
    /// Last-block reduction: all threads store a part, one counts, and no barrier is between. Grid 4, block 64.
    pub unsafe fn last_block_no_barrier(x: *const u32, part: *mut u32, count: *mut u32, out: *mut u32) {
        last_block(x, part, count, out);
    }
}

kernel! {
    /// Look-back: the value is plain, its state relaxed. Grid 4, block 32.
    pub unsafe fn lookback(x: *const u32, state: *mut u32, value: *mut u32, out: *mut u32) {
        unsafe {
            let mine = *x.add(global_index() as usize);
            let own = warp_inclusive_sum(mine);
            let all = warp_sum(mine);
            let b = block_idx_x() as usize;
            let mut before = 0;
            if thread_idx_x() == 0 {
                if b > 0 {
                    before = previous(state.add(b - 1), value.add(b - 1));
                }
                *value.add(b) = before + all; //@ lookback
                publish(state.add(b));
            }
            before = Lanes::<32>::of_warp().shuffle(before, 0);
            *out.add(global_index() as usize) = before + own;
        }
    }
}

kernel! {
    /// A seqlock whose reader reads plainly. Grid 2, block 1.
    pub unsafe fn seqlock_again(seq: *mut u32, data: *mut u32, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                for i in 1..4 {
                    ptx!(st.relaxed.gpu.global.u32 [seq], 2 * i - 1);
                    fence_acq_rel::<Gpu>();
                    ptx!(st.relaxed.gpu.global.u32 [data], i); //@ seqlock_again
                    ptx!(st.relaxed.gpu.global.u32 [data.add(1)], i); //@ seqlock_again
                    fence_acq_rel::<Gpu>();
                    ptx!(st.relaxed.gpu.global.u32 [seq], 2 * i);
                }
            } else {
                loop {
                    let before = ptx!(ld.acquire.gpu.global.u32 [seq]);
                    let (a, b) = if WRONG {
                        (data.read_volatile_like(), data.add(1).read_volatile_like())
                    } else {
                        (ptx!(ld.relaxed.gpu.global.u32 [data]), ptx!(ld.relaxed.gpu.global.u32 [data.add(1)]))
                    };
                    fence_acq_rel::<Gpu>();
                    let after = ptx!(ld.relaxed.gpu.global.u32 [seq]);
                    if before == after && before % 2 == 0 {
                        *out = a;
                        *out.add(1) = b;
                        break;
                    }
                    pause();
                }
            }
        }
    }
}

kernel! {
    /// A count by atomics that is read plainly meanwhile. Grid 2, block 64.
    pub unsafe fn plain_read_of_atomic(bins: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x() as usize;
            let seen = if WRONG {
                *bins.add(t % 4) //@ plain_read_of_atomic
            } else {
                ptx!(ld.relaxed.gpu.global.u32 [bins.add(t % 4)])
            };
            if seen < 5 {
                ptx!(red.relaxed.gpu.global.add.u32 [bins.add(t % 4)], 1); //@ plain_read_of_atomic
            }
            *out.add(global_index() as usize) = t as u32;
        }
    }
}

kernel! {
    /// `.nc` loads of what the same kernel writes: an axpy over the same buffer, its x being y. Grid 2, block 32.
    pub unsafe fn nc(y: *mut f32, n: u32) {
        unsafe {
            let mut i = global_index();
            while i < n {
                let left = if i == 0 { 0 } else { i - 1 };
                let x = if WRONG {
                    ld_global_nc::<NoAllocate, NoPrefetch>().read(y.add(n as usize + (i % 16) as usize)) //@ nc
                } else {
                    ld_global::<NoHint, NoPrefetch>().read(y.add((left + 2 * n) as usize))
                };
                if i < 16 && WRONG { *y.add((n + i) as usize) = 1.0; } //@ nc
                *y.add(i as usize) = x + 1.0;
                i += global_size();
            }
        }
    }
}

kernel! {
    /// Atomics of two scopes: a block's count by `.cta`, that another block reads too. Grid 2, block 32.
    pub unsafe fn atomic_cta_scope(count: *mut u32, ticket: *mut u32) {
        unsafe {
            let got = if WRONG {
                ptx!(atom.relaxed.cta.global.add.u32 [count], 1) //@ atomic_cta_scope
            } else {
                ptx!(atom.relaxed.gpu.global.add.u32 [count], 1)
            };
            *ticket.add(got as usize) = 1;
        }
    }
}

kernel! {
    /// A pointer is published, and its target is filled after that (an MPMC queue's ticket). Grid 2, block 32.
    pub unsafe fn ticket_before_data(tail: *mut u32, slots: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if block_idx_x() == 0 {
                if WRONG {
                    let at = ptx!(atom.release.gpu.global.add.u32 [tail], 1);
                    *slots.add(at as usize) = t + 1; //@ ticket_before_data
                } else {
                    *slots.add(t as usize) = t + 1;
                    ptx!(red.release.gpu.global.add.u32 [tail], 1);
                }
            } else {
                let all = if WRONG { t + 1 } else { 32 };
                while ptx!(ld.acquire.gpu.global.u32 [tail]) < all { pause(); }
                *out.add(t as usize) = *slots.add(t as usize); //@ ticket_before_data
            }
        }
    }
}
