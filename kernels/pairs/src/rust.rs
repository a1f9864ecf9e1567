//! What Rust authors write: atomics of `core`, slices, closures, enums, panics.

use crate::WRONG;
use crate::common::*;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

shared! {
    pub(crate) fn line() -> [u32; 256];
    pub(crate) fn bytes() -> [u8; 512];
    pub(crate) fn one() -> Mbarrier;
    pub(crate) fn flag() -> u32;
    pub(crate) fn big() -> [[u32; 64]; 4];
}

pub(crate) const LOAD: Ordering = if WRONG { Ordering::Relaxed } else { Ordering::Acquire };
pub(crate) const STORE: Ordering = if WRONG { Ordering::Relaxed } else { Ordering::Release };

pub(crate) struct Guard<'a>(&'a AtomicU32);
impl<'a> Guard<'a> {
    #[inline(never)]
    fn lock(lock: &'a AtomicU32) -> Self {
        while lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            core::hint::spin_loop();
        }
        Guard(lock)
    }
}
impl Drop for Guard<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.0.store(0, STORE);
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Pair {
    a: u8,
    b: u32,
}
pub(crate) trait AsPair {
    fn as_generic_pair(self, i: u32) -> *mut Pair;
}
impl AsPair for SharedPtr<Pair> {
    #[inline(always)]
    fn as_generic_pair(self, i: u32) -> *mut Pair {
        self.add(i).as_generic()
    }
}

pub(crate) enum Role {
    Load,
    Math,
    Idle,
}
impl Role {
    #[inline(always)]
    fn of(warp: u32) -> Role {
        match warp {
            0 => Role::Load,
            1 => Role::Math,
            _ => Role::Idle,
        }
    }
}

#[inline(never)]
pub(crate) fn neighbour<T: Copy, F: Fn(u32) -> T>(read: F, t: u32, add: impl Fn(T, T) -> T) -> T {
    add(read(t), read(t + 1))
}

kernel! {
    /// core's atomics, relaxed, as a flag. Grid 2, block 1.
    pub unsafe fn core_relaxed(data: *mut u32, flag: *mut u32, out: *mut u32) {
        unsafe {
            let flag = &*flag.cast::<AtomicU32>();
            if block_idx_x() == 0 {
                *data = 7; //@ core_relaxed
                flag.store(1, STORE); //@ core_relaxed
            } else {
                while flag.load(LOAD) == 0 { core::hint::spin_loop(); } //@ core_relaxed
                *out = *data; //@ core_relaxed
            }
        }
    }
}

kernel! {
    /// core's fences are forgotten on the reader's side. Grid 2, block 1.
    pub unsafe fn core_fence(data: *mut u32, flag: *mut u32, out: *mut u32) {
        unsafe {
            let flag = AtomicU32::from_ptr(flag);
            if block_idx_x() == 0 {
                *data = 7; //@ core_fence
                fence(Ordering::Release);
                flag.store(1, Ordering::Relaxed);
            } else {
                while flag.load(Ordering::Relaxed) == 0 { core::hint::spin_loop(); }
                if !WRONG { fence(Ordering::Acquire); }
                *out = *data; //@ core_fence
            }
        }
    }
}

kernel! {
    /// `read_volatile` and `write_volatile` as a flag, without a fence. Grid 2, block 1.
    pub unsafe fn volatile(data: *mut u32, flag: *mut u32, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                *data = 7; //@ volatile
                if !WRONG { fence(Ordering::SeqCst); }
                flag.write_volatile(1);
            } else {
                while flag.read_volatile() == 0 {}
                if !WRONG { fence(Ordering::SeqCst); }
                *out = *data; //@ volatile
            }
        }
    }
}

kernel! {
    /// A lock of core's atomics by a guard, which a helper gives back relaxed. Grid 4, block 1.
    pub unsafe fn guard(lock: *mut u32, sum: *mut u32) {
        unsafe {
            let lock = AtomicU32::from_ptr(lock);
            let guard = Guard::lock(lock);
            *sum += 1; //@ guard
            drop(guard);
        }
    }
}

kernel! {
    /// A slice that is longer than its buffer: Rust's own bounds check does not see it. Grid 1, block 64.
    pub unsafe fn slice_length(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let len = if WRONG { n as usize + 4 } else { n as usize };
            let x = core::slice::from_raw_parts(x, len);
            let mut sum = 0u32;
            for v in x.iter().skip(thread_idx_x() as usize).step_by(64) { sum = sum.wrapping_add(*v); } //@ slice_length
            *out.add(thread_idx_x() as usize) = sum;
        }
    }
}

kernel! {
    /// An index out of a slice's bounds: a panic. Grid 1, block 64.
    pub unsafe fn panic(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let x = core::slice::from_raw_parts(x, n as usize);
            let i = thread_idx_x() as usize;
            let v = if WRONG { x[i + 1] } else { x[(i + 1) % n as usize] }; //@ panic
            *out.add(i) = v;
        }
    }
}

kernel! {
    /// A negative `i32` as an index: `(i - 2) as usize`. Grid 1, block 64.
    pub unsafe fn negative(x: *const u32, out: *mut u32) {
        unsafe {
            let i = thread_idx_x() as i32;
            let at = if WRONG { i - 2 } else { (i - 2).max(0) };
            *out.add(i as usize) = *x.add(at as usize); //@ negative
        }
    }
}

kernel! {
    /// A wait for a flag that nobody sets: it spins. Grid 2, block 1.
    pub unsafe fn never_set(flag: *mut u32, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                if !WRONG { ptx!(st.release.gpu.global.u32 [flag], 1); }
            } else {
                while ptx!(ld.acquire.gpu.global.u32 [flag]) == 0 { pause(); } //@ never_set
                *out = 1;
            }
        }
    }
}

kernel! {
    /// Two locks in two orders. Grid 2, block 1.
    pub unsafe fn abba(a: *mut u32, b: *mut u32, sum: *mut u32) {
        unsafe {
            let (first, second) = if block_idx_x() == 0 || !WRONG { (a, b) } else { (b, a) };
            while ptx!(atom.acquire.gpu.global.cas.b32 [first], 0, 1) != 0 { pause(); }
            nanosleep(100);
            while ptx!(atom.acquire.gpu.global.cas.b32 [second], 0, 1) != 0 { pause(); } //@ abba
            *sum += 1;
            ptx!(st.release.gpu.global.u32 [second], 0);
            ptx!(st.release.gpu.global.u32 [first], 0);
        }
    }
}

kernel! {
    /// A bulk store is begun by one thread, and waited for by another. Grid 1, block 64.
    pub unsafe fn other_waits(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = big().cast::<u32>();
            p.add(t).write(*x.add(t as usize));
            fence_proxy_async_shared_cta();
            sync_threads();
            if t == 0 {
                cp_async_bulk_global_shared(out, p, 256); //@ other_waits
                cp_async_bulk_commit_group();
            }
            if t == if WRONG { 32 } else { 0 } { cp_async_bulk_wait_group_read::<0>(); }
            sync_threads();
            p.add(t).write(0); //@ other_waits
            if t == 0 { cp_async_bulk_wait_group_read::<0>(); }
        }
    }
}

kernel! {
    /// All lanes of a warp begin the copy. Grid 1, block 64.
    pub unsafe fn all_lanes(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(one(), 1); fence_mbarrier_init_release_cluster(); }
            sync_threads();
            if t == 0 { mbarrier_arrive_expect_tx(one(), 256); }
            if if WRONG { t < 32 } else { t == 0 } {
                cp_async_bulk_shared_cluster_global(big().cast::<u32>(), x, 256, one()); //@ all_lanes
            }
            while !mbarrier_try_wait_parity(one(), 0) { pause(); }
            *out.add(t as usize) = big().cast::<u32>().add(t).read();
        }
    }
}

kernel! {
    /// A barrier of zero arrivals. Grid 1, block 32.
    pub unsafe fn count_zero(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { mbarrier_init(one(), if WRONG { 0 } else { 32 }); } //@ count_zero
            sync_warp();
            let state = mbarrier_arrive(one());
            while !mbarrier_try_wait(one(), state) { pause(); }
            *out.add(t as usize) = t;
        }
    }
}

kernel! {
    /// `cp.async` of 16 bytes over the end; the twin takes zeros. Grid 1, block 16.
    pub unsafe fn zfill(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            let to = big().cast::<V4<u32>>().add(t);
            let left = n.saturating_sub(4 * t).min(4);
            let from = x.add((4 * t).min(n) as usize).cast::<V4<u32>>();
            if WRONG {
                if 4 * t < n { cp_async_cg::<NoPrefetch>().copy(to, from); } //@ zfill
            } else {
                cp_async_cg::<NoPrefetch>().copy_zfill(to, from, 4 * left);
            }
            cp_async_commit_group();
            cp_async_wait_group::<0>();
            if 4 * t < n {
                for k in 0..left { *out.add((4 * t + k) as usize) = to.cast::<u32>().add(k).read(); }
            }
        }
    }
}

kernel! {
    /// Segments of eight lanes in a loop whose turns differ by segment, with the whole warp's mask. Grid 1, block 32.
    pub unsafe fn segments(lengths: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let segment = t / 8;
            let lanes = if WRONG { Lanes::<8>::of_warp() } else { Lanes::<8>::of_mask(0xff << (8 * segment)) };
            let mut sum = 0;
            for i in 0..*lengths.add(segment as usize) {
                sum += lanes.shuffle_xor(t + i, 1); //@ segments
            }
            sync_warp(); //@ segments
            *out.add(t as usize) = sum;
        }
    }
}

kernel! {
    /// Half a warp arrives at an aligned barrier. Grid 1, block 64.
    pub unsafe fn half_warp_arrives(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = line().cast::<u32>();
            p.add(t).write(t);
            if WRONG {
                if t < 16 { bar_arrive(1, 32 + 32); } //@ half_warp_arrives
            } else if t < 32 {
                bar_arrive(1, 64);
            }
            if t >= 32 {
                bar_sync_count(1, 64); //@ half_warp_arrives
                *out.add(t as usize) = p.add(t - 32).read(); //@ half_warp_arrives
            }
        }
    }
}

kernel! {
    /// A structure with a gap goes through shared memory by value; the wrong one reads a field that nobody wrote. Grid 1, block 32.
    pub unsafe fn gap(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = bytes().cast::<Pair>().as_generic_pair(t);
            if WRONG && t == 5 {
                (*p).a = 1;
            } else {
                p.write(Pair { a: t as u8, b: *x.add(t as usize) });
            }
            sync_warp();
            let q = bytes().cast::<Pair>().as_generic_pair(31 - t);
            let pair = q.read(); //@ gap
            *out.add(t as usize) = pair.b + pair.a as u32; //@ gap
        }
    }
}

kernel! {
    /// A count in 64 bits whose halves are read by two loads. Grid 2, block 1.
    pub unsafe fn halves(count: *mut u64, out: *mut u32) {
        unsafe {
            if block_idx_x() == 0 {
                for _ in 0..4 { AtomicU64::from_ptr(count).fetch_add(0x1_0000_0001, Ordering::Relaxed); } //@ halves
            } else if WRONG {
                let halves = count.cast::<u32>();
                let low = ptx!(ld.relaxed.gpu.global.u32 [halves]); //@ halves
                let high = ptx!(ld.relaxed.gpu.global.u32 [halves.add(1)]);
                *out = low; *out.add(1) = high;
            } else {
                let both = ptx!(ld.relaxed.gpu.global.u64 [count]);
                *out = both as u32; *out.add(1) = (both >> 32) as u32;
            }
        }
    }
}

kernel! {
    /// A line is discarded while its content is needed. Grid 1, block 32.
    pub unsafe fn discard(x: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x() as usize;
            let v = if WRONG { 0 } else { *x.add(t) };
            sync_warp();
            if t == 0 { discard_global_l2(x); } //@ discard
            sync_warp();
            *out.add(t) = if WRONG { *x.add(t) } else { v }; //@ discard
        }
    }
}

kernel! {
    /// A flag in shared memory that one warp spins on, without release. Grid 1, block 64.
    pub unsafe fn shared_flag(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = line().cast::<u32>();
            if t == 0 { flag().write(0); }
            sync_threads();
            if t < 32 {
                p.add(t).write(t * 2); //@ shared_flag
                sync_warp();
                if t == 0 {
                    if WRONG { ptx!(st.relaxed.cta.shared.u32 [flag()], 1); } else { ptx!(st.release.cta.shared.u32 [flag()], 1); }
                }
            } else {
                while ptx!(ld.acquire.cta.shared.u32 [flag()]) == 0 { pause(); }
                *out.add(t as usize) = p.add(t - 32).read(); //@ shared_flag
            }
        }
    }
}

kernel! {
    /// An enum's match decides which warps meet a barrier. Grid 1, block 96.
    pub unsafe fn roles(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = line().cast::<u32>();
            match Role::of(t / 32) {
                Role::Load => { p.add(t).write(t); bar_sync_count(1, 96); }
                Role::Math => { bar_sync_count(1, 96); *out.add(t as usize) = p.add(t % 32).read(); }
                Role::Idle => { if !WRONG { bar_sync_count(1, 96); } }
            }
            if WRONG { sync_threads(); } //@ roles
        }
    }
}

kernel! {
    /// A local array of which a place is read that nobody has written. Grid 1, block 32.
    pub unsafe fn local(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let mut a = core::mem::MaybeUninit::<[u32; 16]>::uninit();
            let p = a.as_mut_ptr().cast::<u32>();
            let count = if WRONG { n - 1 } else { n };
            for i in 0..count { p.add(((i * 7) % 16) as usize).write(*x.add(i as usize)); }
            let mut sum = 0;
            for i in 0..n { sum += p.add(((i * 7) % 16) as usize).read_volatile(); } //@ local
            *out.add(thread_idx_x() as usize) = sum;
        }
    }
}

kernel! {
    /// A generic function that is never inlined takes shared memory as a pointer, one element too far. Grid 1, block 64.
    pub unsafe fn generic(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = line().cast::<u32>();
            p.add(t).write(t);
            if t < 4 { p.add(64 + t).write(0); }
            if !WRONG { sync_threads(); }
            *out.add(t as usize) = neighbour::<u32, _>(|i| p.add(i).read(), t, |a, b| a + b); //@ generic
        }
    }
}

kernel! {
    /// A sum of a warp by `redux` with a mask that lacks the caller. Grid 1, block 32.
    pub unsafe fn mask_without_me(out: *mut i32) {
        unsafe {
            let t = thread_idx_x();
            let mask = if WRONG { 0xffff_fffe } else { u32::MAX };
            *out.add(t as usize) = redux_sync_add_s32(t as i32, mask); //@ mask_without_me
        }
    }
}
