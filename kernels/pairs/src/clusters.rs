//! Clusters and distributed shared memory.

use crate::WRONG;
use crate::common::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

#[repr(C, align(128))]
pub(crate) struct Tile([[u32; 16]; 8]);

shared! {
    pub(crate) fn mine() -> [u32; 64];
    pub(crate) fn theirs() -> [u32; 64];
    pub(crate) fn here() -> Mbarrier;
    pub(crate) fn tile() -> Tile;
    pub(crate) fn odd() -> [Tile; 2];
}

kernel! {
    /// TLX 2292: a store into another block's shared memory before that block is known to run. Grid 2, block 64.
    #[cluster_size(2)]
    pub unsafe fn no_entry_sync(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            if !WRONG { sync_cluster(); }
            ptx!(st.shared::cluster.u32 [shared_of(mine().cast::<u32>().add(t), other)], t + 100 * other); //@ no_entry_sync
            sync_cluster();
            *out.add(global_index() as usize) = mine().cast::<u32>().add(t).read();
        }
    }
}

kernel! {
    /// triton 11731: a block may end while another reads its shared memory. Grid 2, block 64.
    #[cluster_size(2)]
    pub unsafe fn no_exit_sync(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            mine().cast::<u32>().add(t).write(t);
            sync_cluster();
            let v = ptx!(ld.shared::cluster.u32 [shared_of(mine().cast::<u32>().add(t), other)]); //@ no_exit_sync
            *out.add(global_index() as usize) = v;
            if !WRONG { sync_cluster(); }
        }
    }
}

kernel! {
    /// The arrival at the cluster's barrier is relaxed. Grid 2, block 64.
    #[cluster_size(2)]
    pub unsafe fn relaxed_arrive(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            mine().cast::<u32>().add(t).write(t); //@ relaxed_arrive
            if WRONG { barrier_cluster_arrive_relaxed(); } else { barrier_cluster_arrive(); }
            barrier_cluster_wait();
            let v = ptx!(ld.shared::cluster.u32 [shared_of(mine().cast::<u32>().add(t), other)]); //@ relaxed_arrive
            *out.add(global_index() as usize) = v;
            sync_cluster();
        }
    }
}

kernel! {
    /// A barrier of another block is arrived at, and its initialisation is not fenced for the cluster. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn no_init_fence(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            if t == 0 {
                mbarrier_init(here(), 32); //@ no_init_fence
                if !WRONG { fence_mbarrier_init_release_cluster(); }
            }
            if WRONG { barrier_cluster_arrive_relaxed(); } else { barrier_cluster_arrive_relaxed(); }
            barrier_cluster_wait();
            mbarrier_arrive(shared_of(here(), other)); //@ no_init_fence
            wait(here(), 0);
            *out.add(global_index() as usize) = t;
            sync_cluster();
        }
    }
}

kernel! {
    /// `st.async` to a barrier that expects the bytes of half of the stores. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn st_async_bytes(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            if t == 0 {
                mbarrier_init(here(), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(here(), if WRONG { 64 } else { 128 }); //@ st_async_bytes
            }
            sync_cluster();
            st_async_shared_cluster(shared_of(mine().cast::<u32>().add(t), other), t, shared_of(here(), other)); //@ st_async_bytes
            wait(here(), 0);
            *out.add(global_index() as usize) = mine().cast::<u32>().add(31 - t).read(); //@ st_async_bytes
            sync_cluster();
        }
    }
}

kernel! {
    /// `red.async` is not waited for, only the cluster's barrier is between. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn red_async_no_wait(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            mine().cast::<u32>().add(t).write(0);
            if t == 0 {
                mbarrier_init(here(), 1);
                fence_mbarrier_init_release_cluster();
                mbarrier_arrive_expect_tx(here(), 128);
            }
            sync_cluster();
            red_async_shared_cluster_add(shared_of(mine().cast::<u32>().add(t / 2), other), 1, shared_of(here(), other)); //@ red_async_no_wait
            if !WRONG { wait(here(), 0); }
            sync_cluster();
            *out.add(global_index() as usize) = mine().cast::<u32>().add(t).read(); //@ red_async_no_wait
            if WRONG { wait(here(), 0); }
            sync_cluster();
        }
    }
}

kernel! {
    /// A rank that the cluster does not have. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn rank(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = if WRONG { cluster_rank() + 1 } else { (cluster_rank() + 1) % 2 };
            mine().cast::<u32>().add(t).write(t);
            sync_cluster();
            let v = ptx!(ld.shared::cluster.u32 [shared_of(mine().cast::<u32>().add(t), other)]); //@ rank
            *out.add(global_index() as usize) = v;
            sync_cluster();
        }
    }
}

kernel! {
    /// A multicast into two blocks, and the second block's barrier expects nothing. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn multicast(x: *const u32, out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            if t == 0 {
                mbarrier_init(here(), 1);
                fence_mbarrier_init_release_cluster();
                let bytes = if WRONG && cluster_rank() == 1 { 0 } else { 256 };
                mbarrier_arrive_expect_tx(here(), bytes); //@ multicast
            }
            sync_cluster();
            if t == 0 && cluster_rank() == 0 {
                cp_async_bulk_shared_cluster_global_multicast(tile().cast::<u32>(), x, 256, here(), 3); //@ multicast
            }
            wait(here(), 0);
            *out.add(global_index() as usize) = tile().cast::<u32>().add(t).read(); //@ multicast
            sync_cluster();
        }
    }
}

kernel! {
    /// A remote arrival tells that data are there, by the scope of the block. Grid 2, block 32.
    #[cluster_size(2)]
    pub unsafe fn remote_arrive_scope(out: *mut u32) {
        unsafe {
            let t = thread_idx_x();
            let other = cluster_rank() ^ 1;
            if t == 0 {
                mbarrier_init(here(), 32);
                fence_mbarrier_init_release_cluster();
            }
            sync_cluster();
            ptx!(st.shared::cluster.u32 [shared_of(mine().cast::<u32>().add(t), other)], t); //@ remote_arrive_scope
            if WRONG {
                mbarrier_arrive(shared_of(here(), other));
            } else {
                mbarrier_arrive_as::<order::Release<Cluster>, _>(shared_of(here(), other));
            }
            if WRONG {
                wait(here(), 0);
            } else {
                while !mbarrier_try_wait_parity_as::<order::Acquire<Cluster>>(here(), 0) { pause(); }
            }
            *out.add(global_index() as usize) = mine().cast::<u32>().add(31 - t).read(); //@ remote_arrive_scope
            sync_cluster();
        }
    }
}
