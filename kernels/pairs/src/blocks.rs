//! Blocks and clusters.

use crate::WRONG;
use crate::common::*;
use crate::stages::{count, full_at, place, set, warps, words};
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

kernel! {
    /// One block of the cluster leaves before the cluster's barrier of the others... in a branch. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn cluster_branch(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            words().cast::<u32>().add(t).write(t);
            if !WRONG || cluster_rank() == 0 { sync_cluster(); } //@ cluster_branch
            let v = if cluster_rank() == 0 { t } else { words().cast::<u32>().add(31 - t).read() };
            *out.add(global_index() as usize) = v;
            if WRONG { bar_sync_count(1, 32); if cluster_rank() == 1 { while ptx!(ld.volatile.global.u32 [out]) != 77 { pause(); } } }
        }
    }
}

kernel! {
    /// A barrier of the cluster is arrived at twice. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn arrive_twice(out: *mut u32) {
        unsafe {
            barrier_cluster_arrive();
            if WRONG { barrier_cluster_arrive(); } //@ arrive_twice
            barrier_cluster_wait();
            *out.add(global_index() as usize) = 1;
        }
    }
}

kernel! {
    /// Dynamic shared memory for a type that is aligned to 128: the launch forgets the alignment. Grid 1, block 64, shared 256 / 368.
    pub unsafe fn aligned_dynamic(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            words().cast::<u32>().add(t).write(t);
            warps().cast::<u32>().write_if(t == 0, 3);
            let p = dynamic_shared::<Stage>().cast::<u32>();
            if WRONG || t < 64 { p.add(t + if WRONG { 4 } else { 0 }).write(*x.add(t as usize)); } //@ aligned_dynamic
            sync_threads();
            *out.add(t as usize) = p.add(63 - t + if WRONG { 4 } else { 0 }).read() + words().cast::<u32>().add(t).read() + warps().cast::<u32>().read();
        }
    }
}

kernel! {
    /// `ldmatrix` rows of 40 bytes. Grid 1, block 32.
    pub unsafe fn row_pitch(out: *mut f32) {
        unsafe {
            let lane = lane_id();
            let p = words().cast::<u32>();
            for k in 0..8 { p.add(lane + 32 * k).write(0x3f803f80); }
            sync_warp();
            let pitch = if WRONG { 10 } else { 12 };
            let left: [Bf16x2; 4] = ldmatrix_m8n8_x4(p.add(lane % 16 * pitch + lane / 16 * 4).cast()); //@ row_pitch
            let d = mma_m16n8k16_f32_bf16(left, [left[0], left[1]], [0.0; 4]);
            out.cast::<[f32; 4]>().add(lane as usize).write(d);
        }
    }
}

kernel! {
    /// `stmatrix`, and a bulk store of it without a proxy fence. Grid 1, block 32.
    pub unsafe fn stmatrix_bulk(out: *mut u32) {
        unsafe {
            let lane = lane_id();
            let v = [Bf16x2(lane), Bf16x2(lane + 32)];
            stmatrix_m8n8_x2(place(0).add(lane % 16 * 4).cast(), v); //@ stmatrix_bulk
            if !WRONG { fence_proxy_async_shared_cta(); }
            sync_warp();
            if lane == 0 {
                cp_async_bulk_global_shared(out, place(0), 256); //@ stmatrix_bulk
                cp_async_bulk_commit_group();
                cp_async_bulk_wait_group_read::<0>();
            }
        }
    }
}

kernel! {
    /// An atomic in another block's shared memory, by the scope of the block. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn remote_atomic(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { count().write(0); }
            sync_cluster();
            if WRONG {
                ptx!(red.relaxed.cta.shared::cluster.add.u32 [shared_of(count(), 0)], 1); //@ remote_atomic
            } else {
                ptx!(red.relaxed.cluster.shared::cluster.add.u32 [shared_of(count(), 0)], 1);
            }
            sync_cluster();
            if cluster_rank() == 0 { *out.add(t as usize) = count().read(); }
        }
    }
}

kernel! {
    /// A pool's memory is given back by a count that only its owner reads relaxed. Grid 2, block 32.
    pub unsafe fn reader_count(data: *mut u32, readers: *mut u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x() as usize;
            if block_idx_x() == 1 {
                *out.add(t) = *data.add(t); //@ reader_count
                ptx!(red.release.gpu.global.add.u32 [readers], 1);
            } else {
                if t == 0 {
                    if WRONG {
                        while ptx!(ld.relaxed.gpu.global.u32 [readers]) < 32 { pause(); }
                    } else {
                        while ptx!(ld.acquire.gpu.global.u32 [readers]) < 32 { pause(); }
                    }
                }
                sync_threads();
                *data.add(t) = 0; //@ reader_count
            }
        }
    }
}

kernel! {
    /// Two statements of one helper store one value from two warps (the helper is inlined). Grid 1, block 64.
    pub unsafe fn helper_twice(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 { set(out); } //@ helper_twice
            if !WRONG { sync_threads(); }
            *out.add(1 + t as usize) = t;
            if t == 40 { set(out); } //@ helper_twice
        }
    }
}

kernel! {
    /// A row's end is `usize` arithmetic in `u32`: `rows * columns` wraps at 2^32. Grid 1, block 32.
    pub unsafe fn wrap_product(x: *const u32, out: *mut u32, rows: u32, columns: u32) {
        unsafe {
            let t = thread_idx_x();
            let n = if WRONG { rows.wrapping_mul(columns) as usize } else { rows as usize * columns as usize };
            // The last element of the matrix, seen from its end; only the lowest kilobytes are there.
            let at = n.wrapping_sub(rows as usize * columns as usize).wrapping_add(t as usize);
            *out.add(t as usize) = *x.add(at); //@ wrap_product
        }
    }
}

kernel! {
    /// A consumer that reads the bytes by `ld.shared` before it waits for the barrier, hoisted. Grid 1, block 64.
    pub unsafe fn hoisted(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 {
                mbarrier_init(full_at(0), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(full_at(0), 256);
                cp_async_bulk_shared_cluster_global(place(0), x, 256, full_at(0)); //@ hoisted
            }
            sync_threads();
            let mut v = 0;
            if WRONG { v = place(0).add(t).read(); } //@ hoisted
            wait(full_at(0), 0);
            if !WRONG { v = place(0).add(t).read(); }
            *out.add(t as usize) = v;
        }
    }
}
