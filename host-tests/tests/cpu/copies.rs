//! What copies and barriers mean on a CPU.

use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

/// A barrier of so many arrivals.
fn barrier(memory: &mut Mbarrier, count: u32) -> SharedPtr<Mbarrier> {
    let bar = SharedPtr::new(memory);
    // SAFETY: the memory is this function's caller's alone.
    unsafe { mbarrier_init(bar, count) };
    bar
}

#[test]
fn a_phase_is_complete_when_all_have_arrived() {
    let mut memory = Mbarrier::default();
    let bar = barrier(&mut memory, 3);
    // SAFETY: the barrier is initialised, and nobody arrives too often.
    unsafe {
        for phase in 0..5 {
            let parity = phase % 2;
            let first = mbarrier_arrive_no_complete(bar, 1);
            assert_eq!(mbarrier_pending_count(first), 3);
            let second = mbarrier_arrive_as::<Release<Cluster>, _>(bar);
            assert!(!mbarrier_test_wait(bar, first) && !mbarrier_test_wait_parity(bar, parity));
            mbarrier_arrive_count(bar, 1);
            assert!(mbarrier_test_wait(bar, second) && mbarrier_try_wait_for(bar, first, 1000));
            assert!(mbarrier_try_wait_parity_as::<Acquire<Cluster>>(bar, parity));
            assert!(!mbarrier_try_wait_parity(bar, 1 - parity));
        }
    }
}

#[test]
fn who_drops_out_is_not_waited_for() {
    let mut memory = Mbarrier::default();
    let bar = barrier(&mut memory, 4);
    // SAFETY: the barrier is initialised, and nobody arrives too often.
    unsafe {
        let state = mbarrier_arrive_drop_no_complete(bar, 1);
        mbarrier_arrive_drop_count(bar, 2);
        assert!(!mbarrier_test_wait(bar, state));
        mbarrier_arrive(bar);
        assert!(mbarrier_test_wait(bar, state));
        // One is left, who alone completes the next phases.
        assert!(!mbarrier_test_wait_parity(bar, 1));
        mbarrier_arrive(bar);
        assert!(mbarrier_test_wait_parity(bar, 1));
    }
}

#[test]
fn a_phase_waits_for_bytes_too() {
    let mut memory = Mbarrier::default();
    let bar = barrier(&mut memory, 1);
    let cluster = SharedClusterPtr::of(bar);
    // SAFETY: the barrier is initialised, and nobody arrives too often.
    unsafe {
        // Bytes may come before they are expected.
        mbarrier_complete_tx(cluster, 100);
        mbarrier_expect_tx_as::<Relaxed<Cluster>, _>(bar, 40);
        let state = mbarrier_arrive_expect_tx(bar, 160);
        assert!(!mbarrier_test_wait(bar, state));
        mbarrier_complete_tx(bar, 99);
        assert!(!mbarrier_test_wait(bar, state));
        mbarrier_complete_tx(bar, 1);
        assert!(mbarrier_test_wait(bar, state));
        let () = mbarrier_arrive(cluster);
        assert!(mbarrier_test_wait_parity(bar, 1));
        cp_async_mbarrier_arrive(bar);
        assert!(!mbarrier_test_wait_parity(bar, 0));
        cp_async_mbarrier_arrive_noinc(bar);
        assert!(mbarrier_test_wait_parity(bar, 0));
        mbarrier_inval(bar);
    }
}

#[test]
#[should_panic(expected = "a barrier's phase expects so many arrivals")]
fn one_arrival_too_many_is_found_out() {
    let mut memory = Mbarrier::default();
    let bar = barrier(&mut memory, 2);
    // SAFETY: the barrier is initialised; what is wrong is what this test is about.
    unsafe { mbarrier_arrive_count(bar, 3) };
}

#[test]
fn a_copy_fills_the_rest_with_zeros() {
    let from = V4::new([1u32, 2, 3, 4]);
    let mut to = V4::new([9u32; 4]);
    let mut copied = |copy: &dyn Fn(SharedPtr<V4<u32>>)| {
        to = V4::new([9; 4]);
        copy(SharedPtr::new(&raw mut to));
        cp_async_commit_group();
        cp_async_wait_group::<0>();
        to.0
    };
    const PLAIN: CpAsyncCg = cp_async_cg();
    let hinted = cp_async_ca::<Prefetch256>();
    let policy = CachePolicy::EVICT_LAST;
    // SAFETY: both are quads of this function.
    unsafe {
        assert_eq!(copied(&|to| PLAIN.copy(to, &from)), [1, 2, 3, 4]);
        assert_eq!(copied(&|to| hinted.copy_with(to, &from, policy)), [1, 2, 3, 4]);
        assert_eq!(copied(&|to| PLAIN.copy_zfill(to, &from, 8)), [1, 2, 0, 0]);
        assert_eq!(copied(&|to| hinted.copy_zfill_with(to, &from, 0, policy)), [0; 4]);
        assert_eq!(copied(&|to| PLAIN.copy_unless(false, to, &from)), [1, 2, 3, 4]);
        assert_eq!(copied(&|to| PLAIN.copy_unless(true, to, std::ptr::null())), [0; 4]);
        assert_eq!(copied(&|to| hinted.copy_unless_with(true, to, &from, policy)), [0; 4]);
    }
}

/// Sixteen words, aligned as bulk copies want them.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Words([u32; 16]);

#[test]
fn a_bulk_copy_tells_the_barrier() {
    let from = Words(std::array::from_fn(|at| at as u32));
    let (mut here, mut there, mut out) = (Words([99; 16]), Words([99; 16]), Words([99; 16]));
    let (here, there) = (SharedPtr::new(&raw mut here.0[0]), SharedPtr::new(&raw mut there.0[0]));
    let mut memory = Mbarrier::default();
    let bar = barrier(&mut memory, 1);
    // SAFETY: all are words of this function, and the barrier expects the bytes.
    unsafe {
        mbarrier_arrive_expect_tx(bar, 64);
        cp_async_bulk_shared_cluster_global(here, &from.0[0], 48, bar);
        assert!(!mbarrier_test_wait_parity(bar, 0));
        cp_async_bulk_shared_global_with(here.add(12), &from.0[12], 16, bar, CachePolicy::EVICT_FIRST);
        assert!(mbarrier_test_wait_parity(bar, 0));
        mbarrier_arrive_expect_tx(bar, 64);
        cp_async_bulk_shared_cluster_shared(SharedClusterPtr::of(there), here, 64, SharedClusterPtr::of(bar));
        assert!(mbarrier_test_wait_parity(bar, 1));
        cp_async_bulk_global_shared(&raw mut out.0[0], there, 64);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group::<0>();
        assert_eq!(out.0, from.0);
        // Of each four words the second and the first byte of the last.
        out = Words([u32::MAX; 16]);
        cp_async_bulk_global_shared_cp_mask(&raw mut out.0[0], there, 64, 0b0001_0000_1111_0000);
        cp_async_bulk_wait_group_read::<0>();
        let masked = std::array::from_fn(|at| match at % 4 {
            1 => from.0[at],
            3 => u32::MAX << 8 | from.0[at],
            _ => u32::MAX,
        });
        assert_eq!(out.0, masked);
        // The first and the last word are left out.
        mbarrier_arrive_expect_tx(bar, 64);
        cp_async_bulk_shared_global_ignore_oob(there, &from.0[0], 64, 4, 4, bar);
        assert!(mbarrier_test_wait_parity(bar, 0));
        let read: Vec<u32> = (1..15).map(|at| there.add(at).read()).collect();
        assert_eq!(read, from.0[1..15]);
        cp_async_bulk_prefetch_l2(&from.0[0], 64);
        cp_async_bulk_prefetch_tensor(&from, [0, 1]);
        cp_async_bulk_prefetch_tensor_im2col_with(&from, [0, 1, 2], [3], CachePolicy::EVICT_LAST);
    }
}

#[test]
#[should_panic(expected = "which is no multiple of 16")]
fn a_bulk_copy_is_of_words_of_16_bytes() {
    let (from, mut to) = (Words([1; 16]), Words([0; 16]));
    // SAFETY: all are words of this function; what is wrong is what this test is about.
    unsafe { cp_async_bulk_global_shared(&raw mut to.0[0], SharedPtr::new(from.0.as_ptr().cast_mut()), 20) };
}

#[test]
#[should_panic(expected = "a CPU cannot copy to the blocks 0b11 of a cluster")]
fn a_cpu_knows_of_no_cluster() {
    let (from, mut to) = (Words([1; 16]), Words([0; 16]));
    let mut memory = Mbarrier::default();
    let bar = barrier(&mut memory, 1);
    // SAFETY: all are words of this function.
    unsafe {
        cp_async_bulk_shared_cluster_global_multicast(SharedPtr::new(&raw mut to.0[0]), &from.0[0], 64, bar, 0b11);
    }
}
