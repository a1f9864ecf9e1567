//! Mistakes that differ by their lines alone.

use crate::WRONG;
use crate::common::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

shared! {
    pub(crate) fn left() -> [u32; 64];
    pub(crate) fn right() -> [u32; 64];
    pub(crate) fn ready() -> u32;
}

kernel! {
    /// Two mistakes in one kernel: two findings are due. Grid 1, block 64.
    pub unsafe fn two_mistakes(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let (a, b) = (left().cast::<u32>(), right().cast::<u32>());
            a.add(t).write(t); //@ two_mistakes
            if !WRONG { sync_threads(); }
            let x = a.add(63 - t).read(); //@ two_mistakes
            b.add(t).write(2 * x); //@ two_mistakes
            if !WRONG { sync_threads(); }
            let y = b.add((t + 40) % 64).read(); //@ two_mistakes
            *out.add(t as usize) = x + y;
        }
    }
}

kernel! {
    /// Two threads store the same value by two statements. Grid 1, block 64.
    pub unsafe fn two_stores(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = ready();
            if t == 0 { p.write(1); } //@ two_stores
            *out.add(t as usize) = t;
            if !WRONG { sync_threads(); }
            if t == 40 { p.write(1); } //@ two_stores
            sync_threads();
            *out.add(t as usize) = p.read();
        }
    }
}
