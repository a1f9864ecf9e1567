//! Kernels of what reduces, scans and votes: of a GPU in the interpreter, and of a CPU, from one source.

use ptx_kernel::*;

/// A kernel of each type, which writes nine values of each thread.
macro_rules! of_types {
    ($($name:ident $memory:ident $type:ident;)*) => { $(
        shared! {
            fn $memory() -> [$type; 32];
        }

        kernel! {
            /// # Safety
            /// `x` points at a number of each thread, `out` at nine; a block is whole warps.
            pub unsafe fn $name(x: *const $type, out: *mut $type) {
                let i = global_index() as usize;
                // SAFETY: the number and the places are this thread's own, and all threads come to each function.
                unsafe {
                    let x = *x.add(i);
                    let out = out.add(9 * i);
                    *out = warp_sum(x);
                    *out.add(1) = warp_inclusive_sum(x);
                    *out.add(2) = warp_exclusive_scan(x, x, |a, b| if a < b { a } else { b });
                    *out.add(3) = Lanes::<8>::of_warp().max(x);
                    *out.add(4) = block_sum(x, $memory());
                    *out.add(5) = block_min(x, $memory());
                    *out.add(6) = block_max(x, $memory());
                    *out.add(7) = block_inclusive_sum(x, $memory());
                    *out.add(8) = block_exclusive_sum(x, $memory());
                }
            }
        }
    )* };
}
of_types! {
    of_u32 memory_u32 u32;
    of_i32 memory_i32 i32;
    of_f32 memory_f32 f32;
    of_u64 memory_u64 u64;
    of_i64 memory_i64 i64;
    of_f64 memory_f64 f64;
}

kernel! {
    /// # Safety
    /// `x` points at a number of each thread, `out` at ten; a block is whole warps.
    pub unsafe fn votes(x: *const u32, out: *mut u32) {
        let i = global_index() as usize;
        // SAFETY: the number and the places are this thread's own, and all threads of each mask come to each function.
        unsafe {
            let x = *x.add(i);
            let out = out.add(10 * i);
            *out = block_any(x % 64 == 5) as u32;
            *out.add(1) = block_all(x % 64 != 5) as u32;
            *out.add(2) = block_count(x.is_multiple_of(3));
            *out.add(3) = count(x.is_multiple_of(3));
            *out.add(4) = Lanes::<4>::of_warp().any(x % 8 == 1) as u32;
            *out.add(5) = Lanes::<4>::of_warp().all(x % 8 != 1) as u32;
            *out.add(6) = Lanes::<8>::of_warp().shuffle(x, 3);
            *out.add(7) = Lanes::<8>::of_warp().shuffle_down(x, 3);
            // Each half of a warp takes a branch of its own.
            if lane_id() < 16 {
                let half = Lanes::<16>::of_mask(0xffff);
                *out.add(8) = half.sum(x);
                *out.add(9) = half.ballot(x.is_multiple_of(2));
            } else {
                let half = Lanes::<16>::of_mask(0xffff_0000);
                *out.add(8) = half.min(x);
                half.sync();
                *out.add(9) = half.shuffle_xor(x, 1);
            }
        }
    }
}
