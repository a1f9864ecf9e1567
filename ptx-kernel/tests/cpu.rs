//! What kernels mean on a CPU.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ptx_intrinsics::prelude::*;
use ptx_kernel::cpu::Launch;
use ptx_kernel::*;

/// What each thread of the launch gives, in the order of a grid of `threads` threads: `at` says which number a thread has.
fn gather(launch: Launch, threads: usize, each: impl Fn() -> u32) -> Vec<u32> {
    let mut out = vec![u32::MAX; threads];
    let to = out.as_mut_ptr();
    // SAFETY: each thread has a place of its own.
    unsafe { launch.run(|| *to.add(number() as usize) = each()) };
    out
}

/// The thread's number in a grid of any dimensions.
fn number() -> u32 {
    let thread = (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x();
    let block = (block_idx_z() * grid_dim_y() + block_idx_y()) * grid_dim_x() + block_idx_x();
    block * block_dim_x() * block_dim_y() * block_dim_z() + thread
}

#[test]
fn every_thread_of_every_dimension_runs_once() {
    let launch = Launch::new((2, 3, 4), (5, 2, 3));
    let counts = gather(launch, 2 * 3 * 4 * 5 * 2 * 3, number);
    assert_eq!(counts, (0..720).collect::<Vec<_>>());
    let last = gather(launch, 720, || {
        let thread = 100 * thread_idx_x() + 10 * thread_idx_y() + thread_idx_z();
        1000 * (100 * block_idx_x() + 10 * block_idx_y() + block_idx_z()) + thread
    });
    assert_eq!([last[0], last[1], last[5], last[10], last[30]], [0, 100, 10, 1, 100_000]);
    assert_eq!(last[719], 123_412);
    // Sizes with common factors, and blocks of half a warp: `x` moves fastest, then `y`, then `z`, and so do the lanes.
    let launch = Launch::new((4, 2, 2), (4, 2, 2));
    assert_eq!(gather(launch, 256, number), (0..256).collect::<Vec<_>>());
    assert_eq!(gather(launch, 256, lane_id), (0..256).map(|thread| thread % 16).collect::<Vec<_>>());
}

#[test]
fn indices_of_one_dimension() {
    let launch = Launch::new(3, 70);
    assert_eq!(gather(launch, 210, global_index), (0..210).collect::<Vec<_>>());
    assert_eq!(gather(launch, 210, global_size), vec![210; 210]);
    let lanes: Vec<u32> = (0..3).flat_map(|_| (0..70).map(|thread| thread % 32)).collect();
    assert_eq!(gather(launch, 210, lane_id), lanes);
}

shared! {
    /// A value of each thread.
    fn values() -> [u32; 64];
    fn one() -> u64;
}

#[test]
fn a_barrier_and_shared_memory_hand_values_over() {
    let reversed = gather(Launch::new(3, 64), 192, || {
        let values = values().cast::<u32>();
        let me = thread_idx_x();
        // SAFETY: a place for each thread, and a barrier between writing and reading.
        unsafe {
            values.add(me).write(global_index());
            sync_threads();
            values.add(63 - me).read()
        }
    });
    let expected: Vec<u32> = (0..3).flat_map(|block| (0..64).map(move |thread| block * 64 + 63 - thread)).collect();
    assert_eq!(reversed, expected);
}

#[test]
fn without_the_barrier_the_mistake_shows() {
    let early = gather(Launch::new(1, 64), 64, || {
        let values = values().cast::<u32>();
        // SAFETY: it reads what was written or what was there at first.
        unsafe {
            values.add(thread_idx_x()).write(thread_idx_x());
            values.add(63 - thread_idx_x()).read()
        }
    });
    assert_eq!([early[0], early[31], early[32], early[63]], [0xa5a5_a5a5, 0xa5a5_a5a5, 31, 0]);
}

#[test]
fn variables_do_not_overlap_and_blocks_have_their_own() {
    let launch = Launch::new(4, 1).dynamic_shared(40);
    let sums = gather(launch, 4, || {
        // SAFETY: one thread for each block.
        unsafe {
            one().write(7 + u64::from(block_idx_x()));
            values().cast::<u32>().write(1);
            let dynamic = dynamic_shared::<u32>();
            dynamic.write(2);
            values().cast::<u32>().add(63).write(3);
            dynamic.add(9).write(4);
            one().read() as u32 * 100 + values().cast::<u32>().read() * 10 + dynamic.read()
        }
    });
    assert_eq!(sums, [712, 812, 912, 1012]);
    assert_eq!(gather(launch, 4, || u32::from(one().aligned_to_16())), [1; 4]);
    assert_eq!(
        message(|| drop(gather(Launch::new(1, 1), 1, || u32::from(dynamic_shared::<u8>().aligned_to_16())))),
        "this launch has no dynamic shared memory: say how many bytes with `Launch::dynamic_shared`"
    );
}

/// Where a variable is.
trait Aligned {
    fn aligned_to_16(self) -> bool;
}

impl<T> Aligned for SharedPtr<T> {
    fn aligned_to_16(self) -> bool {
        format!("{self:?}").trim_end_matches(')').ends_with('0')
    }
}

#[test]
fn shuffles_take_from_the_lane_that_they_name() {
    let launch = Launch::new(1, 64);
    let of = |lane: u32, from: Option<u32>| from.filter(|from| *from < 32).unwrap_or(lane);
    type Case = (&'static str, unsafe fn(u32, u32) -> u32, fn(u32, u32) -> Option<u32>);
    let cases: [Case; 4] = [
        ("shuffle_xor", shuffle_xor::<u32>, |lane, by| Some(lane ^ by)),
        ("shuffle_up", shuffle_up::<u32>, |lane, by| lane.checked_sub(by)),
        ("shuffle_down", shuffle_down::<u32>, |lane, by| Some(lane + by)),
        ("shuffle", shuffle::<u32>, |_, by| Some(by)),
    ];
    for (name, shuffle, from) in cases {
        // Of the number, five bits count.
        for by in [0, 1, 2, 5, 16, 31, 32, 33, 95] {
            // SAFETY: all threads come along.
            let found = gather(launch, 64, || unsafe { shuffle(1000 + thread_idx_x(), by) });
            let expected: Vec<u32> =
                (0..64).map(|at| 1000 + at / 32 * 32 + of(at % 32, from(at % 32, by % 32))).collect();
            assert_eq!(found, expected, "{name} by {by}");
        }
    }
    // SAFETY: all threads come along.
    let floats = gather(launch, 64, || unsafe { shuffle_xor(-(thread_idx_x() as f32), 1) }.to_bits());
    assert_eq!(floats[6], (-7.0f32).to_bits());
    // SAFETY: all threads come along.
    let signed = gather(launch, 64, || unsafe { shuffle_down(-(thread_idx_x() as i32), 1) } as u32);
    assert_eq!(signed[40] as i32, -41);
}

#[test]
fn votes_count_the_lanes_that_are_there() {
    let launch = Launch::new(1, 40);
    // SAFETY: all threads that have not ended come along.
    let ballots = gather(launch, 40, || unsafe { ballot(thread_idx_x().is_multiple_of(3)) });
    assert_eq!([ballots[0], ballots[31], ballots[32]], [0x4924_9249, 0x4924_9249, 0b1001_0010]);
    // SAFETY: as above.
    assert_eq!(gather(launch, 40, || unsafe { u32::from(any(thread_idx_x() == 39)) })[31..33], [0, 1]);
    // SAFETY: as above.
    assert_eq!(gather(launch, 40, || unsafe { u32::from(all(thread_idx_x() < 32)) })[31..33], [1, 0]);
    // A lane that has ended has no vote, and nothing is waited for from it.
    let without = gather(launch, 40, || {
        if thread_idx_x() == 2 {
            return 9;
        }
        // SAFETY: as above.
        unsafe { ballot(true) }
    });
    assert_eq!([without[0], without[2], without[33]], [!4, 9, 0xff]);
    // Nor has one that voted before it ended.
    let later = gather(launch, 40, || {
        // SAFETY: as above.
        let first = unsafe { ballot(true) };
        if thread_idx_x() == 2 {
            return first;
        }
        // SAFETY: as above.
        unsafe { ballot(true) }
    });
    assert_eq!([later[0], later[2], later[33]], [!4, !0, 0xff]);
}

#[test]
fn a_sum_over_a_warp() {
    let sums = gather(Launch::new(2, 32), 64, || {
        let mut sum = global_index();
        for mask in [16, 8, 4, 2, 1] {
            // SAFETY: all threads come along.
            sum += unsafe { shuffle_xor(sum, mask) };
        }
        sum
    });
    assert_eq!(sums, [vec![496; 32], vec![1520; 32]].concat());
}

#[test]
fn a_cluster_reads_its_neighbours_shared_memory() {
    let launch = Launch::new(4, 2).cluster(2);
    let found = gather(launch, 8, || {
        let values = values().cast::<u32>();
        let me = thread_idx_x();
        assert_eq!((cluster_size(), cluster_rank()), (2, block_idx_x() % 2));
        // SAFETY: a place for each thread, and a barrier between writing and reading.
        unsafe {
            values.add(me).write(10 * block_idx_x() + me);
            sync_cluster();
            let there = shared_of(values.add(1 - me), 1 - cluster_rank());
            let value = ptx!(ld.shared::cluster.u32 [there]);
            sync_cluster();
            value
        }
    });
    assert_eq!(found, [11, 10, 1, 0, 31, 30, 21, 20]);
}

#[test]
fn blocks_wait_for_each_other() {
    // Each block waits for the one before: those that are not there yet come as the others end.
    let mut flags = vec![0u32; 20];
    let to = flags.as_mut_ptr();
    // SAFETY: a flag for each block, written and read by atomics.
    unsafe {
        Launch::new(20, 1).resident(3).run(|| {
            let me = block_idx_x() as usize;
            let flag = |at: usize| to.add(at);
            while me > 0 && ptx!(ld.acquire.gpu.global.u32[flag(me - 1)]) == 0 {
                pause();
            }
            let before = if me > 0 { ptx!(ld.relaxed.gpu.global.u32[flag(me - 1)]) } else { 0 };
            ptx!(st.release.gpu.global.u32[flag(me)], before + 1);
        });
    }
    assert_eq!(flags, (1..=20).collect::<Vec<_>>());
}

#[test]
fn behind_a_variable_is_no_place_of_it() {
    // SAFETY: nothing is read or written.
    let text = message(|| unsafe {
        Launch::new(2, 1).cluster(2).run(|| {
            shared_of(one().add(1), 1 - cluster_rank());
        });
    });
    assert!(text.contains("the place is in no variable of this block's shared memory"), "{text}");
}

#[test]
fn as_many_blocks_run_at_once_as_is_said() {
    let blocks = std::thread::available_parallelism().map_or(2, |threads| threads.get() as u32) + 3;
    let (arrived, late) = (AtomicU32::new(0), AtomicU32::new(0));
    let until = Instant::now() + Duration::from_secs(20);
    // SAFETY: nothing but atomics is touched.
    unsafe {
        Launch::new(blocks, 1).resident(blocks).run(|| {
            arrived.fetch_add(1, Ordering::Relaxed);
            while arrived.load(Ordering::Relaxed) < blocks {
                if Instant::now() > until {
                    late.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                pause();
            }
        });
    }
    assert_eq!(late.into_inner(), 0, "blocks of {blocks} that did not meet all others");
}

fn message(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or(panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_default()
}

#[test]
fn threads_that_wait_in_vain_are_named() {
    // SAFETY: nothing is touched.
    let text = message(|| unsafe {
        Launch::new(1, 40).run(|| match thread_idx_x() {
            3 => sync_warp(),
            _ => sync_threads(),
        });
    });
    assert_eq!(
        text,
        "threads wait in vain: thread (0, 0, 0) of block (0, 0, 0) for its block; thread (1, 0, 0) of block (0, 0, 0) for \
         its block; thread (2, 0, 0) of block (0, 0, 0) for its block; thread (3, 0, 0) of block (0, 0, 0) for its warp"
    );
}

#[test]
fn a_panic_is_the_launchs_own() {
    // SAFETY: nothing is touched.
    let text = message(|| unsafe {
        Launch::new(8, 4).run(|| {
            assert!(global_index() != 13, "thirteen");
            sync_threads();
        });
    });
    assert_eq!(text, "thirteen");
}

/// Blocks that wait for one that panicked would wait for ever: they end too.
#[test]
fn a_panic_of_one_block_ends_those_that_wait_for_it() {
    // SAFETY: nothing is touched.
    let text = message(|| unsafe {
        Launch::new(2, 2).resident(2).run(|| {
            assert!(block_idx_x() == 0, "the kernel's own");
            loop {
                pause();
            }
        });
    });
    assert_eq!(text, "the kernel's own");
}

/// Each thread sees what all threads of its block, or of its cluster, did before the barrier, and only that.
#[test]
fn a_barrier_waits_for_all_it_is_for() {
    for (cluster, all) in [(1, 7), (3, 21)] {
        let arrived = [AtomicU32::new(0), AtomicU32::new(0)];
        // SAFETY: all threads come along.
        unsafe {
            Launch::new(2 * cluster, 7).cluster(cluster).resident(2).run(|| {
                let sync = || if cluster == 1 { sync_threads() } else { sync_cluster() };
                let arrived = &arrived[(block_idx_x() / cluster) as usize];
                for round in 1..=10 {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    sync();
                    assert_eq!(arrived.load(Ordering::Relaxed), round * all, "clusters of {cluster}");
                    sync();
                }
            });
        }
        assert_eq!(arrived.map(AtomicU32::into_inner), [10 * all; 2]);
    }
}

#[test]
fn outside_of_a_kernel_there_is_no_place() {
    assert_eq!(
        message(|| assert_eq!(thread_idx_x(), 0)),
        "this asks for the place of a GPU's thread, and no kernel runs here: start it with `ptx_kernel::cpu::Launch`"
    );
    gather(Launch::new(1, 1), 1, || 0);
    assert!(message(|| assert_eq!(thread_idx_x(), 0)).contains("no kernel runs here"), "a launch leaves none behind");
}

#[test]
fn launches_that_cannot_be_are_refused() {
    // SAFETY: nothing runs.
    let refused = |launch: Launch| message(|| unsafe { launch.run(|| ()) });
    assert_eq!(
        refused(Launch::new(0, 32)),
        "a launch has at least one of its blocks, and this has Dim3 { x: 0, y: 1, z: 1 }"
    );
    assert_eq!(refused(Launch::new(3, 32).cluster(2)), "a grid of 3 blocks in x has no whole clusters of 2");
    assert_eq!(
        refused(Launch::new((1 << 20, 1 << 15), 32)),
        "Dim3 { x: 1048576, y: 32768, z: 1 } blocks are more than a launch can have"
    );
    for (launch, what) in [
        (Launch::new((1, 70_000), 32), "a launch has 70000 blocks in y, and no GPU takes more than 65535"),
        (Launch::new((1, 1, 65_536), 32), "a launch has 65536 blocks in z, and no GPU takes more than 65535"),
        (Launch::new(1 << 31, 1), "a launch has 2147483648 blocks in x, and no GPU takes more than 2147483647"),
        (Launch::new(1, 2048), "a block has 2048 threads, and no GPU takes more than 1024"),
        (Launch::new(1, (32, 32, 2)), "a block has 2048 threads, and no GPU takes more than 1024"),
        (Launch::new(1, (1, 1, 65)), "a launch has 65 threads in z, and no GPU takes more than 64"),
        (Launch::new(32, 1).cluster(32), "a launch has 32 blocks of a cluster, and no GPU takes more than 16"),
        (
            Launch::new(1, 1).dynamic_shared(10 << 20),
            "a block has 10485760 bytes of shared memory, 10485760 of them dynamic, and no GPU has more than 232448",
        ),
    ] {
        assert_eq!(refused(launch), what);
    }
    // The largest that there are.
    for launch in [Launch::new((1, 65_535), 1), Launch::new(1, (16, 1, 64)), Launch::new(1, 1).dynamic_shared(232_448)]
    {
        // SAFETY: nothing is touched.
        unsafe { launch.run(|| ()) };
    }
}

#[test]
fn arithmetic() {
    const MIN: f32 = f32::MIN_POSITIVE;
    assert_eq!(mul_add(1.0 + f32::EPSILON, 1.0 - f32::EPSILON, -1.0), -(f32::EPSILON * f32::EPSILON));
    let [rsqrt, rcp, sqrt] = [rsqrt_approx(4.0), rcp_approx(8.0), sqrt_approx(9.0)];
    assert_eq!([rsqrt, rcp, sqrt, exp2_approx(3.0), log2_approx(8.0)], [0.5, 0.125, 3.0, 8.0, 3.0]);
    assert_eq!([exp2_approx_ftz(-126.0), exp2_approx_ftz(-127.0), exp2_approx(-127.0)], [MIN, 0.0, MIN / 2.0]);
    assert_eq!(
        [rcp_approx_ftz(0.25), rcp_approx_ftz(-f32::MAX), rcp_approx_ftz(MIN / 2.0)],
        [4.0, -0.0, f32::INFINITY]
    );
    let zeros = [max_f32(-0.0, 0.0), max_f32(0.0, -0.0), -min_f32(-0.0, 0.0), -min_f32(0.0, -0.0)];
    assert!(zeros.iter().all(|zero| zero.to_bits() == 0), "{zeros:?}");
    assert_eq!([max_f32(f32::NAN, 1.0), max_f32(1.0, f32::NAN), min_f32(f32::NAN, 1.0), min_f32(1.0, 2.0)], [1.0; 4]);
    assert_eq!([max_f32(1.0, 2.0), max_f32(-1.0, -2.0)], [2.0, -1.0]);
    assert!(rcp_approx_ftz(-f32::MAX).is_sign_negative());
    assert_eq!([sin_approx(0.0), cos_approx(0.0), tanh_approx(0.0)], [0.0, 1.0, 0.0]);
    assert_eq!(dp4a(0x01ff_0280, 0x0304_0505, 7), 7 + 3 - 4 + 10 - 640);
    assert_eq!(dp4a_unsigned(0x01ff_0280, 0x0304_0505, 7), 7 + 3 + 1020 + 10 + 640);
    assert_eq!(pack_bf16x2([1.0, -2.0]), 0xc000_3f80);
    assert_eq!(unpack_bf16x2(0xc000_3f80), [1.0, -2.0]);
    // To the nearest, ties to even: 1 + 2^-8 is between two, and the even one is 1.
    assert_eq!(pack_bf16x2([1.0 + 1.0 / 256.0, 1.0 + 3.0 / 256.0]), 0x3f82_3f80);
    assert_eq!(pack_f16x2([0.5, 65504.0]), 0x7bff_3800);
    assert_eq!(unpack_f16x2(0x7bff_3800), [0.5, 65504.0]);
}

/// What [`unrolled`] calls with, by a step of `step`.
fn calls<const N: usize>(range: Range<u32>, step: u32) -> Vec<u32> {
    let mut found = Vec::new();
    unrolled::<N>(range, step, |i| found.push(i));
    found
}

#[test]
fn an_unrolled_loop_is_the_plain_one() {
    const MAX: u32 = u32::MAX;
    let starts = [0, 1, 5, MAX - 70, MAX - 1, MAX];
    let ends = (0..70).chain(MAX - 70..=MAX);
    for (start, end) in
        ends.flat_map(|end| starts.map(|start| (start, end))).filter(|(start, end)| end.saturating_sub(*start) < 100)
    {
        for step in [1, 2, 3, 7, 32, 1 << 29, 1 << 31, MAX] {
            let expected: Vec<u32> = (start..end).step_by(step as usize).collect();
            let found =
                [calls::<1>, calls::<2>, calls::<3>, calls::<4>, calls::<5>, calls::<6>, calls::<7>, calls::<8>];
            for (n, calls) in (1..).zip(found) {
                assert_eq!(calls(start..end, step), expected, "{n} of {start}..{end}, step {step}");
            }
        }
    }
    assert_eq!(calls::<2>(5..MAX, 1 << 30), [0, 1, 2, 3].map(|k| 5 + (k << 30)));
    assert_eq!(calls::<4>(0..MAX, 1 << 30), [0, 1, 2, 3].map(|k| k << 30));
}

#[test]
#[cfg(debug_assertions)]
fn an_unrolled_loop_goes_on() {
    assert!(message(|| drop(calls::<2>(0..1, 0))).contains("a step is at least 1"));
}

#[test]
fn a_reduction_that_lacks_lanes_says_so() {
    shared! {
        fn warps() -> [u32; 32];
    }
    let said =
        |threads: u32, each: fn() -> u32| message(|| drop(gather(Launch::new(1, threads), threads as usize, each)));
    // SAFETY: each ends with a panic.
    unsafe {
        assert!(said(40, || warp_sum(1)).starts_with("a reduction needs all 32 lanes, and lane 8 of this warp is not"));
        assert!(said(32, || if lane_id() == 3 { 0 } else { warp_sum(1) }).contains("lane 3 of this warp"));
        assert!(
            said(32, || Lanes::<8>::of_mask(0x00ff_ffff).inclusive_sum(1)).contains("lane 24 calls it, and is not in")
        );
        assert!(said(40, || block_sum(1, warps())).contains("lane 8"));
        assert!(
            said(64, || if lane_id() < 4 { Lanes::<8>::of_mask(0xf).sum(1) } else { 0 }).contains("needs all 8 lanes")
        );
        let two = || {
            let half = Lanes::<16>::of_mask(0xffff);
            if lane_id() >= 16 {
                0
            } else if lane_id() == 0 {
                half.ballot(true)
            } else {
                half.shuffle(1, 0)
            }
        };
        assert!(said(32, two).contains("come to one instruction together, and here thread (0, 0, 0)"));
    }
    // SAFETY: it ends with a panic.
    let flat = message(|| drop(gather(Launch::new(1, (16, 2)), 32, || unsafe { block_sum(1, warps()) })));
    assert!(flat.ends_with("this one has 16 by 2 by 1 threads"), "{flat}");
}

/// Lanes that have ended have no vote.
#[test]
fn votes_of_a_block_count_those_that_are_there() {
    let votes = gather(Launch::new(2, 40), 80, || {
        if thread_idx_x() == 39 {
            return 0;
        }
        // SAFETY: all threads that have not ended come along.
        unsafe {
            block_count(true) + 100 * u32::from(block_all(thread_idx_x() < 39)) + 1000 * u32::from(block_any(false))
        }
    });
    assert_eq!([votes[0], votes[38], votes[39], votes[40]], [139, 139, 0, 139]);
}
