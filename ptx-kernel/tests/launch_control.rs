//! Blocks that take over the work of blocks that have not begun.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ptx_intrinsics::clusterlaunchcontrol::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_kernel::cpu::Launch;
use ptx_kernel::*;

shared! {
    fn response() -> u128;
    fn answered() -> Mbarrier;
}

/// A grid of 30 blocks, in clusters along x.
const GRID: (u32, u32, u32) = (6, 5, 1);

/// Does the work of its own block, and then that of blocks that have not begun. `work` is told the block, in x and y.
fn each_by_itself(work: &dyn Fn(u32, u32)) {
    let (mut block, mut phase) = ((block_idx_x(), block_idx_y()), 0);
    // SAFETY: one thread makes the barrier and asks; the others read the response behind the barrier, and all of them have read
    // it before the next request.
    unsafe {
        if thread_idx_x() == 0 {
            mbarrier_init(answered(), 1);
            fence_mbarrier_init_release_cluster();
        }
        sync_threads();
        loop {
            if thread_idx_x() == 0 {
                fence_proxy_async_shared_cta();
                mbarrier_arrive_expect_tx(answered(), 16);
                clusterlaunchcontrol_try_cancel_shared(response(), answered());
            }
            work(block.0, block.1);
            while !mbarrier_try_wait_parity(answered(), phase) {}
            let found = response().read();
            sync_threads();
            if !clusterlaunchcontrol_query_cancel_is_canceled(found) {
                return;
            }
            let (x, y, z) = clusterlaunchcontrol_query_cancel_get_first_ctaid(found);
            assert_eq!(z, 0);
            (block, phase) = ((x + cluster_rank(), y), phase ^ 1);
        }
    }
}

/// How often each block was worked for, and how many blocks began.
fn worked(launch: Launch, steals: impl Fn(&dyn Fn(u32, u32))) -> (Vec<u32>, u32) {
    let counts: Vec<AtomicU32> = (0..30).map(|_| AtomicU32::new(0)).collect();
    let begun = AtomicU32::new(0);
    // SAFETY: all is atomic.
    unsafe {
        launch.run(|| {
            if thread_idx_x() == 0 {
                begun.fetch_add(1, Relaxed);
            }
            steals(&|x, y| _ = counts[(y * 6 + x) as usize].fetch_add(1, Relaxed));
        })
    };
    (counts.into_iter().map(AtomicU32::into_inner).collect(), begun.into_inner())
}

#[test]
fn each_block_is_worked_for_once() {
    assert_eq!(worked(Launch::new(GRID, 40).resident(1), each_by_itself), (vec![40; 30], 1));
    for resident in [2, 7, 30] {
        let (counts, begun) = worked(Launch::new(GRID, 40).resident(resident), each_by_itself);
        assert_eq!(counts, [40; 30], "{resident}");
        assert!((1..=30).contains(&begun), "{resident}: {begun}");
    }
}

#[test]
fn a_cluster_answers_for_all_of_its_blocks() {
    // Each of its two blocks asks by itself, so that whole clusters are worked for, by one block each.
    let (counts, begun) = worked(Launch::new(GRID, 32).cluster(2).resident(1), each_by_itself);
    assert_eq!(begun, 2);
    let pairs: Vec<u32> = counts.chunks(2).map(|pair| pair.iter().sum()).collect();
    assert_eq!(pairs[0], 64);
    assert_eq!(pairs[1..], [32; 14]);
}

/// One thread of a cluster asks for all of its blocks, and each block does the work of the one at its own place.
fn together(work: &dyn Fn(u32, u32)) {
    let (mut block, mut phase) = ((block_idx_x(), block_idx_y()), 0);
    // SAFETY: each block has its barrier before one thread asks, and all blocks have read the response before it asks again.
    unsafe {
        if thread_idx_x() == 0 {
            mbarrier_init(answered(), 1);
            fence_mbarrier_init_release_cluster();
        }
        loop {
            if thread_idx_x() == 0 {
                fence_proxy_async_shared_cta();
                mbarrier_arrive_expect_tx(answered(), 16);
            }
            sync_cluster();
            if thread_idx_x() == 0 && cluster_rank() == 0 {
                clusterlaunchcontrol_try_cancel_shared_multicast(response(), answered());
            }
            work(block.0, block.1);
            while !mbarrier_try_wait_parity(answered(), phase) {}
            let found = response().read();
            sync_cluster();
            if !clusterlaunchcontrol_query_cancel_is_canceled(found) {
                return;
            }
            let (x, y, _) = clusterlaunchcontrol_query_cancel_get_first_ctaid(found);
            (block, phase) = ((x + cluster_rank(), y), phase ^ 1);
        }
    }
}

#[test]
fn a_response_for_all_blocks_comes_to_each() {
    for cluster in [1, 2, 3, 6] {
        for resident in [1, 2] {
            let launch = Launch::new(GRID, 34).cluster(cluster).resident(resident);
            let (counts, begun) = worked(launch, together);
            assert_eq!(counts, [34; 30], "{cluster} blocks, {resident} at a time");
            assert!(begun == cluster || resident > 1, "{begun} blocks of clusters of {cluster} began");
        }
    }
}
