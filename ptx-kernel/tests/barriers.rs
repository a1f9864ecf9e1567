//! Barriers by their number, and those of a cluster in two steps, on a CPU.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ptx_intrinsics::prelude::*;
use ptx_kernel::cpu::{Launch, Order};
use ptx_kernel::*;

const ORDERS: [Order; 4] = [Order::Ascending, Order::Descending, Order::Seeded(1), Order::Seeded(2)];

shared! {
    fn slots() -> [[u32; 32]; 2];
}

/// Warps of a block hand over numbers in two slots: one makes them, another adds them up. Barriers 1 and 2 say that a slot is full, and
/// 3 and 4 that it is empty.
unsafe fn hand_over(rounds: u32, sum: &AtomicU32) {
    let (slots, lane) = (slots().cast::<u32>(), thread_idx_x() % WARP_SIZE);
    for round in 0..rounds {
        let (slot, full, empty) = (slots.add(round % 2 * 32 + lane), 1 + round % 2, 3 + round % 2);
        // SAFETY: a slot is written when it is empty, and read when it is full.
        unsafe {
            if thread_idx_x() < WARP_SIZE {
                if round >= 2 {
                    bar_sync_count(empty, 64);
                }
                slot.write(round * 100 + lane);
                bar_arrive(full, 64);
            } else {
                bar_sync_count(full, 64);
                sum.fetch_add(slot.read(), Relaxed);
                if round + 2 < rounds {
                    bar_arrive(empty, 64);
                }
            }
        }
    }
}

#[test]
fn one_warp_makes_what_another_takes() {
    for order in ORDERS {
        let sum = AtomicU32::new(0);
        // SAFETY: two warps, one block.
        unsafe { Launch::new(1, 64).order(order).run(|| hand_over(9, &sum)) };
        assert_eq!(sum.into_inner(), 32 * 100 * 36 + 9 * 496, "{order:?}");
    }
}

/// What a thread is given is that of its own phase, even if the next one ends before the thread goes on.
#[test]
fn what_a_barrier_gives_is_that_of_its_phase() {
    for order in ORDERS {
        // SAFETY: each warp comes to each of its phases.
        unsafe {
            Launch::new(1, 128).order(order).run(|| {
                let warp = thread_idx_x() / WARP_SIZE;
                // Two warps meet at barrier 5, then the others.
                if warp < 2 {
                    assert_eq!(bar_red_popc_count(5, 64, thread_idx_x() < 10), 10);
                    bar_sync(6);
                } else {
                    bar_sync(6);
                    assert_eq!(barrier_red_popc_count(5, 64, thread_idx_x() >= 100), 28);
                    assert!(bar_red_or_count(5, 64, thread_idx_x() == 127) && !bar_red_and_count(5, 64, false));
                }
                let lane = thread_idx_x() % WARP_SIZE;
                assert_eq!(bar_red_popc(7, lane == 3), 4);
                assert!(!bar_red_and(7, lane != 3) && bar_red_and(7, true));
                assert!(bar_red_or(7, lane == 3) && !bar_red_or(7, false));
                assert_eq!(block_count(lane == 3), 4);
            });
        }
    }
}

/// Threads of a warp may come to a barrier that is not `.aligned` by different calls, and who has ended is not waited for.
#[test]
fn threads_come_by_different_calls() {
    for order in ORDERS {
        let there = AtomicU32::new(0);
        // SAFETY: all threads that have not ended come to barrier 2.
        unsafe {
            Launch::new(1, 96).order(order).run(|| {
                match thread_idx_x() {
                    0 => return,
                    1..50 => {
                        there.fetch_add(1, Relaxed);
                        barrier_sync(2);
                    }
                    _ => {
                        there.fetch_add(1, Relaxed);
                        barrier_sync(2);
                    }
                }
                assert_eq!(there.load(Relaxed), 95);
            });
        }
    }
}

/// A thread does something between arriving and waiting, and one that has arrived may end.
#[test]
fn a_cluster_meets_in_two_steps() {
    for order in ORDERS {
        let there = AtomicU32::new(0);
        // SAFETY: all threads arrive, and those that go on wait.
        unsafe {
            Launch::new(4, 32).cluster(4).order(order).run(|| {
                for round in 1..5 {
                    there.fetch_add(1, Relaxed);
                    barrier_cluster_arrive_aligned();
                    barrier_cluster_wait_aligned();
                    assert_eq!(there.load(Relaxed), 128 * round);
                    barrier_cluster_arrive_relaxed();
                    barrier_cluster_wait();
                }
                barrier_cluster_arrive();
                if thread_idx_x() == 7 {
                    return;
                }
                barrier_cluster_wait();
                sync_cluster();
            });
        }
    }
}

#[track_caller]
fn refused(threads: u32, kernel: impl Fn()) -> String {
    // SAFETY: nothing is touched.
    let run = AssertUnwindSafe(|| unsafe { Launch::new(1, threads).run(kernel) });
    let panic = catch_unwind(run).expect_err("it panics");
    panic.downcast_ref::<String>().cloned().expect("a message")
}

#[test]
fn what_the_isa_leaves_open_is_refused() {
    // SAFETY: each panics.
    let all = unsafe {
        [
            refused(32, || bar_sync(16)),
            refused(32, || bar_sync_count(1, 48)),
            refused(64, || if thread_idx_x() < 32 { bar_arrive(1, 64) } else { bar_sync(1) }),
            refused(64, || if thread_idx_x() < 32 { bar_sync(1) } else { _ = bar_red_or(1, true) }),
            refused(32, || barrier_cluster_wait()),
            refused(32, || {
                barrier_cluster_arrive();
                barrier_cluster_arrive();
            }),
            refused(64, || if thread_idx_x() == 0 { bar_sync_count(3, 64) } else { bar_sync(2) }),
        ]
    };
    assert_eq!(
        all,
        [
            "bar.sync: there is no barrier 16, a block has 16",
            "bar.sync: barrier 1 is for 48 threads, and the number has to be a multiple of 32 above 0",
            "bar.sync: a thread comes to barrier 1 as one for the whole block, and another one came to it as one for 64 threads",
            "bar.red.or.pred: a .red meets a .sync or .arrive at barrier 1",
            "barrier.cluster.wait: a thread waits for its cluster, and has not arrived",
            "barrier.cluster.arrive: a thread arrives at its cluster's barrier, and has not waited since it arrived before",
            "threads wait in vain: thread (0, 0, 0) of block (0, 0, 0) for 64 threads of its block at barrier 3; thread (1, 0, 0) of \
             block (0, 0, 0) for its block at barrier 2; thread (2, 0, 0) of block (0, 0, 0) for its block at barrier 2; thread (3, 0, 0) \
             of block (0, 0, 0) for its block at barrier 2",
        ]
    );
}

#[test]
#[allow(clippy::if_same_then_else, reason = "two barriers in two branches are the mistake")]
fn an_aligned_barrier_is_one_call() {
    // SAFETY: it panics.
    let text = refused(32, || unsafe {
        if thread_idx_x() < 5 {
            bar_sync_count(1, 32);
        } else {
            bar_sync_count(1, 32);
        }
    });
    assert!(text.contains("thread (0, 0, 0) of block (0, 0, 0) came to bar.sync at "), "{text}");
}
