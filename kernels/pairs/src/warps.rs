//! Warps: shuffles, votes, and what they share.

use crate::WRONG;
use crate::common::*;
use crate::shared::{after_few, bins, few, next, queue, tile, two, warps};
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

kernel! {
    /// A shuffle of all lanes, which half of them reach. Grid 1, block 32.
    pub unsafe fn shuffle_half(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let mut v = *x.add(t as usize);
            if t < 16 {
                v = if WRONG { shuffle_xor(v, 1) } else { Lanes::<32>::of_mask(0xffff).shuffle_xor(v, 1) }; //@ shuffle_half
            } else {
                v += 100;
            }
            sync_warp(); //@ shuffle_half
            *out.add(t as usize) = v;
        }
    }
}

kernel! {
    /// A warp's tail: `while i < n` with a vote of all lanes in it. Grid 1, block 32.
    pub unsafe fn vote_in_tail(x: *const u32, out: *mut u32, n: u32) {
        unsafe {
            let mut i = thread_idx_x();
            let mut count = 0;
            let end = if WRONG { n } else { n.next_multiple_of(32) };
            while i < end {
                let odd = i < n && *x.add(i as usize) % 2 == 1;
                count += ballot(odd).count_ones(); //@ vote_in_tail
                i += 32;
            }
            *out.add(thread_idx_x() as usize) = warp_sum(count); //@ vote_in_tail
        }
    }
}

kernel! {
    /// A stencil in place. Grid 2, block 64.
    pub unsafe fn stencil_in_place(x: *mut f32, to: *mut f32, n: u32) {
        unsafe {
            let i = global_index();
            if i > 0 && i + 1 < n {
                let v = (*x.add(i as usize - 1) + *x.add(i as usize) + *x.add(i as usize + 1)) / 3.0; //@ stencil_in_place
                if WRONG { *x.add(i as usize) = v; } else { *to.add(i as usize) = v; } //@ stencil_in_place
            }
        }
    }
}

kernel! {
    /// `i - 1` wraps in `u32` at the first element. Grid 1, block 64.
    pub unsafe fn wrap(x: *const f32, out: *mut f32, n: u32) {
        unsafe {
            let i = global_index();
            if i < n {
                let left = if WRONG { i.wrapping_sub(1) } else { i.saturating_sub(1) };
                *out.add(i as usize) = *x.add(left as usize) + *x.add(i as usize); //@ wrap
            }
        }
    }
}

kernel! {
    /// Sums of 32 warps in 16 places. Grid 1, block 1024.
    pub unsafe fn few_places(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            after_few().cast::<u32>().add(t % 32).write_if(t < 32, 0);
            sync_threads();
            let sum = warp_sum(*x.add(t as usize));
            let p = if WRONG { few().cast::<u32>() } else { warps().cast::<u32>() };
            if t % 32 == 0 { p.add(t / 32).write(sum); } //@ few_places
            sync_threads();
            if t < 32 {
                let all = warp_sum(p.add(t).read());
                if t == 0 { *out = all + after_few().cast::<u32>().read(); }
            }
        }
    }
}

kernel! {
    /// A persistent kernel's scheduler: the next tile's number is written while others read the last. Grid 2, block 64.
    pub unsafe fn scheduler(counter: *mut u32, out: *mut u32, tiles: u32) {
        unsafe {
            let t = thread_idx_x();
            loop {
                if t == 0 { next().write(ptx!(atom.relaxed.gpu.global.add.u32 [counter], 1)); } //@ scheduler
                sync_threads();
                let tile = next().read(); //@ scheduler
                if !WRONG { sync_threads(); }
                if tile >= tiles { break; }
                *out.add((tile * 64 + t) as usize) = tile;
            }
        }
    }
}

kernel! {
    /// A histogram in shared memory by read and write. Grid 1, block 64.
    pub unsafe fn histogram(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = bins().cast::<u32>();
            p.add(t).write(0);
            sync_threads();
            let bin = *x.add(t as usize) % 8;
            if WRONG {
                p.add(bin).write(p.add(bin).read() + 1); //@ histogram
            } else {
                ptx!(red.shared.add.u32 [p.add(bin)], 1);
            }
            sync_threads();
            *out.add(t as usize) = p.add(t).read();
        }
    }
}

kernel! {
    /// Bins are cleared by one warp, and others count at once. Grid 1, block 64.
    pub unsafe fn cleared_late(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let p = bins().cast::<u32>();
            p.add(t).write_if(t < 64, 0); //@ cleared_late
            if !WRONG { sync_threads(); }
            ptx!(red.shared.add.u32 [p.add(*x.add(t as usize) % 64)], 1); //@ cleared_late
            sync_threads();
            *out.add(t as usize) = p.add(t).read();
        }
    }
}

kernel! {
    /// A transposed tile: one of the barriers is missing between two tiles. Grid 1, block 32x8 as 256.
    pub unsafe fn transpose(x: *const f32, out: *mut f32) {
        unsafe {
            let (c, r) = (thread_idx_x() % 32, thread_idx_x() / 32);
            let place = |row: u32, column: u32| tile().cast::<f32>().add(row * 33 + column);
            for part in 0..2u32 {
                for k in 0..4 {
                    place(r + 8 * k, c).write(*x.add((part * 1024 + (r + 8 * k) * 32 + c) as usize)); //@ transpose
                }
                sync_threads();
                for k in 0..4 {
                    *out.add((part * 1024 + (r + 8 * k) * 32 + c) as usize) = place(c, r + 8 * k).read(); //@ transpose
                }
                if !WRONG { sync_threads(); }
            }
        }
    }
}

kernel! {
    /// Compaction: the base of a block's output is read before the thread that draws it has. Grid 2, block 64.
    pub unsafe fn compact(x: *const u32, count: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let v = *x.add(global_index() as usize);
            let keep = v % 3 == 0;
            let mine = block_exclusive_sum(keep as u32, warps());
            let all = bar_red_popc(0, keep);
            if t == 0 { next().write(ptx!(atom.relaxed.gpu.global.add.u32 [count], all)); } //@ compact
            if !WRONG { sync_threads(); }
            let base = next().read(); //@ compact
            if keep { *out.add((base + mine) as usize) = v; }
        }
    }
}

kernel! {
    /// A warp's queue in shared memory: `block_sum`'s memory is used for something else at once. Grid 1, block 64.
    pub unsafe fn memory_of_block_sum(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let sum = block_sum(*x.add(t as usize), warps()); //@ memory_of_block_sum
            if !WRONG { sync_threads(); }
            if t < 32 { warps().cast::<u32>().add(t).write(sum + t); } //@ memory_of_block_sum
            sync_threads();
            *out.add(t as usize) = warps().cast::<u32>().add(t % 32).read();
        }
    }
}
