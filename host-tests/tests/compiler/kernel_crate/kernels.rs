//! Kernels that use each piece of `ptx-kernel`, as a user writes them: no feature, no entry point, no panic handler.
#![no_std]

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

const THREADS: u32 = 128;

shared! {
    fn tile() -> [f32; 32];
    fn counter() -> u32;
}

kernel! {
    /// # Safety
    /// As the test launches it.
    #[launch_bounds(THREADS * 2, 4)]
    pub unsafe fn bounded(out: *mut u32) {
        unsafe { *out.add(global_index() as usize) = global_size() }
    }
}

kernel! {
    /// # Safety
    /// As the test launches it.
    #[allow(unused_variables)]
    #[launch_bounds(THREADS)]
    pub unsafe fn nothing() {}
}

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn indices(out: *mut [u32; 13]) {
        unsafe {
            *out = [
                thread_idx_x(), thread_idx_y(), thread_idx_z(), block_idx_x(), block_idx_y(), block_idx_z(),
                block_dim_x(), block_dim_y(), block_dim_z(), grid_dim_x(), grid_dim_y(), grid_dim_z(), lane_id(),
            ]
        }
    }
}

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn exchanges(out: *mut u32) {
        unsafe {
            let value = *out;
            let value = shuffle_xor(value, 1) + shuffle_up(value, 2) + shuffle_down(value, 3) + shuffle(value, 4);
            let votes = ballot(value > 5) + any(value > 6) as u32 + all(value > 7) as u32;
            sync_warp();
            *out = value + votes;
        }
    }
}

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn parts(out: *mut u64, mask: u32) {
        unsafe {
            let lanes = Lanes::<8>::of_mask(mask);
            let value = lanes.shuffle_xor(*out, 1) as u32;
            let value = lanes.shuffle_up(value, 2) + lanes.shuffle_down(value, 3) + lanes.shuffle(value, 4);
            lanes.sync();
            let votes = lanes.any(value > 4) as u32 + Lanes::<32>::of_mask(mask).all(value > 5) as u32;
            let votes = votes + block_count(value > 6) + block_any(value > 7) as u32 + block_all(value > 8) as u32;
            *out = (value + votes) as u64;
        }
    }
}

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn shares(out: *mut f32) {
        unsafe {
            let tile = tile().cast::<f32>();
            tile.add(thread_idx_x()).write(1.5);
            counter().write(7);
            dynamic_shared::<u32>().add(2).write(8);
            sync_threads();
            *out = tile.add(31 - thread_idx_x()).read();
        }
    }
}

kernel! {
    /// # Safety
    /// As the test launches it.
    #[cluster_size(2)]
    pub unsafe fn clustered(out: *mut u32) {
        unsafe {
            counter().write(cluster_size());
            sync_cluster();
            *out = ptx!(ld.shared::cluster.u32 [shared_of(counter(), 1 - cluster_rank())]);
            sync_cluster();
        }
    }
}

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn calculates(out: *mut f32, bits: *mut u32) {
        unsafe {
            let x = *out;
            let [low, high] = unpack_f16x2(*bits);
            let [a, b] = unpack_bf16x2(*bits);
            let sum = rsqrt_approx(x) + rcp_approx(x) + sqrt_approx(x) + exp2_approx(x) + log2_approx(x);
            let sum = sum + sin_approx(x) + cos_approx(x) + tanh_approx(x) + low + high + a + b;
            *out = min_f32(mul_add(sum, x, 2.0), max_f32(x, 1.0));
            let products = dp4a(*bits, 3, 4) as u32 + dp4a_unsigned(*bits, 5, 6);
            *bits = products + pack_bf16x2([x, sum]) + pack_f16x2([sum, x]);
        }
    }
}

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn unrolls(n: u32, from: *const u32, out: *mut u32) {
        unsafe {
            let mut sum = 0;
            unrolled::<3>(global_index()..n, global_size(), |i| sum ^= ldg(from.add(i as usize)));
            *out = sum;
        }
    }
}

/// Variables that are alike but for the module.
macro_rules! alike {
    ($($module:ident)*) => { $(
        mod $module {
            ptx_kernel::shared! {
                pub fn alike() -> [u16; 3];
            }
        }
    )* };
}
alike! { one two }

#[repr(align(64))]
pub struct Wide([u8; 65]);

shared! {
    fn größe() -> [u8; 5];
    fn wide() -> Wide;
    fn empty() -> ();
}

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn variables() {
        unsafe {
            one::alike().cast::<u16>().write(1);
            two::alike().cast::<u16>().write(2);
            größe().cast::<u8>().write(3);
            wide().cast::<u8>().write(4);
            empty().cast::<u8>().write(5);
        }
    }
}

/// Numbers that a thread holds.
const EACH: usize = 16;

kernel! {
    /// # Safety
    /// As the test launches it.
    pub unsafe fn holds(from: *const u32, out: *mut u32) {
        unsafe {
            let mut held = [[0; 8]; EACH];
            unroll!(for k in 0..EACH {
                unroll!(for j in 0..8 {
                    held[k][j] = ldg(from.add(8 * k + j));
                });
            });
            let mut sum = 0;
            unroll!(for k in 0..EACH {
                unroll!(for j in 0..8 {
                    sum = (sum ^ held[k][j]) * held[EACH - 1 - k][7 - j];
                });
            });
            *out = sum;
        }
    }
}

kernel! {
    /// The same in loops.
    ///
    /// # Safety
    /// As the test launches it.
    pub unsafe fn loops(from: *const u32, out: *mut u32) {
        unsafe {
            let mut held = [[0; 8]; EACH];
            for k in 0..EACH {
                for j in 0..8 {
                    held[k][j] = ldg(from.add(8 * k + j));
                }
            }
            let mut sum = 0;
            for k in 0..EACH {
                for j in 0..8 {
                    sum = (sum ^ held[k][j]) * held[EACH - 1 - k][7 - j];
                }
            }
            *out = sum;
        }
    }
}
