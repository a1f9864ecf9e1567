//! Shared memory and barriers.

use crate::WRONG;
use crate::common::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

shared! {
    pub(crate) fn tree() -> [u32; 256];
    pub(crate) fn warps() -> [u32; 32];
    pub(crate) fn few() -> [u32; 16];
    pub(crate) fn after_few() -> [u32; 32];
    pub(crate) fn tile() -> [[f32; 33]; 32];
    pub(crate) fn two() -> [[u32; 64]; 2];
    pub(crate) fn next() -> u32;
    pub(crate) fn row_max() -> f32;
    pub(crate) fn bins() -> [u32; 64];
    pub(crate) fn queue() -> [u32; 64];
}

/// A tree sum; `T` threads.
#[inline(always)]
pub(crate) unsafe fn sum_tree<const T: u32>(mine: u32) -> u32 {
    unsafe {
        let (t, p) = (thread_idx_x(), tree().cast::<u32>());
        p.add(t).write(mine);
        sync_threads();
        let mut half = T / 2;
        while half > 0 {
            if t < half {
                p.add(t).write(p.add(t).read() + p.add(t + half).read()); //@ tree_kernel
            }
            if !WRONG {
                sync_threads();
            }
            half /= 2;
        }
        sync_threads();
        p.read()
    }
}

kernel! {
    /// A tree without a barrier in its loop. Grid 1, block 128.
    pub unsafe fn tree_kernel(x: *const u32, out: *mut u32) {
        unsafe {
            let all = sum_tree::<128>(*x.add(thread_idx_x() as usize));
            if thread_idx_x() == 0 { *out = all; }
        }
    }
}

kernel! {
    /// tvm 2937: the result is read by all, and the next row's is written meanwhile. Grid 1, block 64.
    pub unsafe fn reused_result(x: *const f32, out: *mut f32, rows: u32) {
        unsafe {
            let t = thread_idx_x();
            for row in 0..rows {
                let v = *x.add((row * 64 + t) as usize);
                if t == 0 { row_max().write(v); } //@ reused_result
                sync_threads();
                *out.add((row * 64 + t) as usize) = v - row_max().read(); //@ reused_result
                if !WRONG { sync_threads(); }
            }
        }
    }
}

kernel! {
    /// Two buffers with one barrier a turn, and a prefetch two turns ahead. Grid 1, block 64.
    pub unsafe fn double_buffer(x: *const u32, out: *mut u32, turns: u32) {
        unsafe {
            let t = thread_idx_x();
            let buffer = |i: u32| two().cast::<u32>().add(i % 2 * 64);
            buffer(0).add(t).write(*x.add(t as usize));
            if WRONG { buffer(1).add(t).write(*x.add(64 + t as usize)); }
            sync_threads();
            for i in 0..turns {
                let ahead = if WRONG { i + 2 } else { i + 1 };
                let value = buffer(i).add(63 - t).read(); //@ double_buffer
                if ahead < turns {
                    buffer(ahead).add(t).write(*x.add((ahead * 64 + t) as usize)); //@ double_buffer
                }
                *out.add((i * 64 + t) as usize) = value;
                sync_threads();
            }
        }
    }
}

kernel! {
    /// Lanes exchange through shared memory without a barrier of the warp. Grid 1, block 64.
    pub unsafe fn no_syncwarp(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = tree().cast::<u32>();
            p.add(t).write(*x.add(t as usize)); //@ no_syncwarp
            if !WRONG { sync_warp(); }
            *out.add(t as usize) = p.add(t ^ 1).read(); //@ no_syncwarp
        }
    }
}

kernel! {
    /// Threads beyond the end leave their place in shared memory empty, and the tree reads it. Grid 1, block 128.
    pub unsafe fn uninit_tail(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            let p = tree().cast::<u32>();
            if t < n {
                p.add(t).write(*x.add(t as usize));
            } else if !WRONG {
                p.add(t).write(0);
            }
            sync_threads();
            let mut half = 64;
            while half > 0 {
                if t < half { p.add(t).write(p.add(t).read() + p.add(t + half).read()); } //@ uninit_tail
                sync_threads();
                half >>= 1;
            }
            if t == 0 { *out = p.read(); }
        }
    }
}

kernel! {
    /// A vector of four over the end of 4 * n + 2 elements. Grid 1, block 64.
    pub unsafe fn tail_vector(x: *const f32, out: *mut f32, n: u32) {
        unsafe {
            let i = global_index() * 4;
            let fits = if WRONG { i < n } else { i + 4 <= n };
            if fits {
                let v = ld_global_nc::<NoHint, NoPrefetch>().read(x.add(i as usize).cast::<V4<f32>>()); //@ tail_vector
                st_global::<NoHint>().write(out.add(i as usize).cast::<V4<f32>>(), V4::new(v.0.map(|x| x * 2.0)));
            } else {
                let mut k = i;
                while k < n {
                    *out.add(k as usize) = *x.add(k as usize) * 2.0;
                    k += 1;
                }
            }
        }
    }
}

kernel! {
    /// Vectors of four in rows of an odd pitch. Grid 1, block 32.
    pub unsafe fn misaligned_rows(x: *const f32, out: *mut f32, pitch: u32) {
        unsafe {
            let row = thread_idx_x();
            let p = x.add((row * pitch) as usize);
            let sum = if WRONG {
                let v = *p.cast::<V4<f32>>(); //@ misaligned_rows
                v.0[0] + v.0[1] + v.0[2] + v.0[3]
            } else {
                *p + *p.add(1) + *p.add(2) + *p.add(3)
            };
            *out.add(row as usize) = sum;
        }
    }
}

kernel! {
    /// Dynamic shared memory is carved in elements where bytes are meant: two arrays overlap. Grid 1, block 64, shared 512.
    pub unsafe fn carved(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let base = dynamic_shared::<u8>();
            let a = base.cast::<u32>();
            let b = if WRONG { base.add(64).cast::<u32>() } else { base.add(64 * 4).cast::<u32>() };
            a.add(t).write(*x.add(t as usize)); //@ carved
            b.add(t).write(*x.add(t as usize) * 2); //@ carved
            sync_threads();
            *out.add(t as usize) = a.add(63 - t).read() + b.add(63 - t).read();
        }
    }
}

kernel! {
    /// The launch gives bytes for elements: shared memory is too small. Grid 1, block 64, shared 256 (right: half of it is used).
    pub unsafe fn too_small(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let n = if WRONG { 64 } else { 32 };
            let p = dynamic_shared::<u64>();
            if t < n { p.add(t).write(*x.add(t as usize) as u64); } //@ too_small
            sync_threads();
            if t < n { *out.add(t as usize) = p.add(n - 1 - t).read() as u32; }
        }
    }
}

kernel! {
    /// A barrier in the branch of those below the end. Grid 1, block 128.
    pub unsafe fn divergent_barrier(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            let p = tree().cast::<u32>();
            if WRONG {
                if t < n {
                    p.add(t).write(*x.add(t as usize));
                    sync_threads(); //@ divergent_barrier
                    *out.add(t as usize) = p.add(n - 1 - t).read();
                } else {
                    // Others do something else, and then meet the barrier of the end.
                    *out.add(t as usize) = 0;
                }
                sync_threads(); //@ divergent_barrier
            } else {
                if t < n { p.add(t).write(*x.add(t as usize)); }
                sync_threads();
                *out.add(t as usize) = if t < n { p.add(n - 1 - t).read() } else { 0 };
                sync_threads();
            }
        }
    }
}

kernel! {
    /// A barrier in a loop whose number of turns differs. Grid 1, block 64.
    pub unsafe fn loop_trips(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let t = thread_idx_x();
            let p = tree().cast::<u32>();
            let mut sum = 0;
            let mut i = t;
            let end = if WRONG { n } else { n.next_multiple_of(64) };
            while i < end {
                p.add(t).write(if i < n { *x.add(i as usize) } else { 0 });
                sync_threads(); //@ loop_trips
                sum += p.add(63 - t).read();
                sync_threads();
                i += 64;
            }
            p.add(t).write(sum);
            sync_threads(); //@ loop_trips
            *out.add(t as usize) = p.add(t ^ 1).read();
        }
    }
}

kernel! {
    /// A named barrier counts 64 threads, and 96 come. Grid 1, block 128.
    pub unsafe fn named_count(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = tree().cast::<u32>();
            p.add(t).write(t);
            if t < 96 {
                bar_sync_count(1, if WRONG { 64 } else { 96 }); //@ named_count
                *out.add(t as usize) = p.add(95 - t).read();
            }
        }
    }
}

kernel! {
    /// Two groups of warps use one number. Grid 1, block 128.
    pub unsafe fn same_number(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = tree().cast::<u32>();
            p.add(t).write(t); //@ same_number
            let group = t / 64;
            if group == 0 {
                bar_sync_count(1, 64);
            } else {
                bar_sync_count(if WRONG { 1 } else { 2 }, 64);
            }
            *out.add(t as usize) = p.add(group * 64 + (63 - t % 64)).read(); //@ same_number
        }
    }
}
