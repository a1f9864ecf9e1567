//! The barriers of a block and of a cluster: outside of an executor a thread is the only one, and waits for nobody.

use ptx_intrinsics::prelude::*;

use crate::functions::Tried;

#[test]
fn a_thread_alone_waits_for_nobody() {
    let mut tried = Tried::default();
    macro_rules! alone {
        ($($sync:ident $sync_count:ident $arrive:ident $popc:ident $popc_count:ident $and:ident $and_count:ident $or:ident $or_count:ident;)*) => { $(
            form!(tried |barrier: u32| $sync(barrier))(1);
            form!(tried |barrier: u32, threads: u32| $sync_count(barrier, threads))(1, 64);
            form!(tried |barrier: u32, threads: u32| $arrive(barrier, threads))(1, 64);
            let popc = form!(tried |barrier: u32, holds: bool| $popc(barrier, holds));
            let popc_count = form!(tried |barrier: u32, threads: u32, holds: bool| $popc_count(barrier, threads, holds));
            assert_eq!([popc(1, true), popc(1, false), popc_count(1, 64, true), popc_count(1, 64, false)], [1, 0, 1, 0]);
            let and = form!(tried |barrier: u32, holds: bool| $and(barrier, holds));
            let and_count = form!(tried |barrier: u32, threads: u32, holds: bool| $and_count(barrier, threads, holds));
            let or = form!(tried |barrier: u32, holds: bool| $or(barrier, holds));
            let or_count = form!(tried |barrier: u32, threads: u32, holds: bool| $or_count(barrier, threads, holds));
            for holds in [true, false] {
                assert_eq!([and(1, holds), and_count(1, 64, holds), or(1, holds), or_count(1, 64, holds)], [holds; 4]);
            }
        )* };
    }
    alone! {
        bar_sync bar_sync_count bar_arrive bar_red_popc bar_red_popc_count bar_red_and bar_red_and_count bar_red_or bar_red_or_count;
        barrier_sync barrier_sync_count barrier_arrive barrier_red_popc barrier_red_popc_count barrier_red_and barrier_red_and_count
            barrier_red_or barrier_red_or_count;
    }
    tried.is_all_of(&["bar", "barrier"]);
}

#[test]
fn a_cluster_of_one_thread_is_complete() {
    let mut tried = Tried::default();
    form!(tried || barrier_cluster_arrive())();
    form!(tried || barrier_cluster_wait())();
    form!(tried || barrier_cluster_arrive_relaxed())();
    form!(tried || barrier_cluster_wait_aligned())();
    form!(tried || barrier_cluster_arrive_aligned())();
    form!(tried || barrier_cluster_arrive_relaxed_aligned())();
    tried.is_all_of(&["barrier.cluster"]);
}
