//! What authors are used to elsewhere: statics, indices of fewer bits, references, one dimension.

use crate::WRONG;
use core::sync::atomic::{AtomicU32, Ordering};
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

shared! {
    fn tile() -> [f32; 64];
}

static mut TILE: [f32; 64] = [0.0; 64];

kernel! {
    /// A `static mut` is one for all blocks. Grid 2, block 64.
    pub unsafe fn static_tile(x: *const f32, out: *mut f32) {
        unsafe {
            let (t, i) = (thread_idx_x() as usize, global_index() as usize);
            let tile = if WRONG { (&raw mut TILE).cast::<f32>() } else { tile().cast::<f32>().as_generic() };
            *tile.add(t) = *x.add(i); //@ static_tile
            sync_threads();
            *out.add(i) = *tile.add(63 - t); //@ static_tile
        }
    }
}

kernel! {
    /// The number of a thread in its row, where the block has rows. Grid 1, block 64 as 8 by 8 here: `t` counts both.
    pub unsafe fn row_alone(x: *const f32, out: *mut f32) {
        unsafe {
            let t = thread_idx_x();
            let (row, column) = (t / 8, t % 8);
            let to = if WRONG { column } else { row * 8 + column };
            *out.add(to as usize) = *x.add(t as usize); //@ row_alone
        }
    }
}

kernel! {
    /// An index is kept in 16 bits. Grid 1, block 64.
    pub unsafe fn cut_index(out: *mut u32, stride: u32) {
        unsafe {
            let i = thread_idx_x() * stride;
            let i = if WRONG { i as u16 as usize } else { i as usize };
            *out.add(i) = thread_idx_x(); //@ cut_index
        }
    }
}

kernel! {
    /// The address of a local array goes to another lane, and not its values. Grid 1, block 32.
    pub unsafe fn lane_reference(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let mut own = [0u32; 8];
            for k in 0..8 { own[(k + t as usize) % 8] = *x.add((t as usize + k) % 32); }
            let own = core::hint::black_box(own.as_ptr()) as u64;
            let from = if WRONG { shuffle_xor(own, 1) } else { own } as *const u32;
            *out.add(t as usize) = *from.add(t as usize % 8); //@ lane_reference
        }
    }
}

kernel! {
    /// The value is set behind the state that tells of it. Grid 4, block 1.
    pub unsafe fn state_first(state: *mut u32, value: *mut u32, out: *mut u32) {
        unsafe {
            let state = AtomicU32::from_ptr(state);
            if state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Acquire).is_ok() {
                if WRONG { state.store(2, Ordering::Release); }
                *value = 99; //@ state_first
                if !WRONG { state.store(2, Ordering::Release); }
            } else {
                while state.load(Ordering::Acquire) != 2 {}
            }
            *out.add(block_idx_x() as usize) = *value; //@ state_first
        }
    }
}

kernel! {
    /// A `SharedPtr` is made of a pointer to global memory. Grid 1, block 64.
    pub unsafe fn shared_of_global(x: *mut f32, out: *mut f32) {
        unsafe {
            let t = thread_idx_x();
            tile().cast::<f32>().add(t).write(1.0);
            sync_threads();
            let from = if WRONG { SharedPtr::new(x) } else { tile().cast::<f32>() };
            *out.add(t as usize) = from.add(t).read(); //@ shared_of_global
        }
    }
}

kernel! {
    /// A line is discarded that others still read. Grid 1, block 64.
    pub unsafe fn discard_early(x: *mut f32, out: *mut f32) {
        unsafe {
            let t = thread_idx_x() as usize;
            *out.add(t) = *x.add(63 - t); //@ discard_early
            if !WRONG { sync_threads(); }
            if t % 32 == 0 { discard_global_l2(x.add(t)); } //@ discard_early
        }
    }
}
