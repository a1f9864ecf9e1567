//! What the executor finds that a GPU would not say: mistakes that give other results in other orders, and what no GPU takes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::Duration;

use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::cpu::{Launch, Order};
use ptx_kernel::*;

/// What a launch panics with.
fn message(launch: Launch, kernel: impl Fn()) -> String {
    // SAFETY: the kernels below touch nothing but their own, or panic before.
    let panic = catch_unwind(AssertUnwindSafe(|| unsafe { launch.run(kernel) })).expect_err("it panics");
    let text = panic.downcast_ref::<String>().cloned();
    text.or(panic.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default()
}

/// What each thread of one block gives.
fn gather(launch: Launch, threads: usize, each: impl Fn() -> u32) -> Vec<u32> {
    let mut out = vec![u32::MAX; threads];
    let to = out.as_mut_ptr();
    // SAFETY: each thread has a place of its own.
    unsafe { launch.run(|| *to.add(thread_idx_x() as usize) = each()) };
    out
}

shared! {
    fn values() -> [u32; 64];
    fn tile() -> [V4<u32>; 64];
    fn bar() -> Mbarrier;
    fn half() -> [u8; 30 << 10];
    fn other_half() -> [u8; 30 << 10];
}

const UNTOUCHED: u32 = 0xa5a5_a5a5;

/// Reads what the neighbour of that distance wrote, without a barrier.
fn neighbour(order: Order, up: bool) -> Vec<u32> {
    gather(Launch::new(1, 64).order(order), 64, || {
        let (values, me) = (values().cast::<u32>(), thread_idx_x());
        let other = if up { me.wrapping_add(1) } else { me.wrapping_sub(1) } % 64;
        // SAFETY: a place for each thread; it reads what was written or what was there at first.
        unsafe {
            values.add(me).write(me);
            values.add(other).read()
        }
    })
}

#[test]
fn a_forgotten_barrier_shows_in_one_of_the_orders() {
    let wrong = |order, up| neighbour(order, up).iter().filter(|found| **found == UNTOUCHED).count();
    assert_eq!([wrong(Order::Ascending, true), wrong(Order::Descending, true)], [63, 1]);
    assert_eq!([wrong(Order::Ascending, false), wrong(Order::Descending, false)], [1, 63]);
    for seed in 0..8 {
        let (up, down) = (neighbour(Order::Seeded(seed), true), neighbour(Order::Seeded(seed), false));
        for found in [&up, &down] {
            let wrong = found.iter().filter(|found| **found == UNTOUCHED).count();
            assert!((10..=54).contains(&wrong), "seed {seed}: {found:x?}");
        }
        assert_eq!(up, neighbour(Order::Seeded(seed), true), "the same seed, the same order");
        assert_ne!(up, neighbour(Order::Seeded(seed + 8), true), "seed {seed}");
    }
}

#[test]
fn with_its_barriers_a_kernel_gives_the_same_in_each_order() {
    for order in [Order::Ascending, Order::Descending, Order::Seeded(1), Order::Seeded(2)] {
        let sums = gather(Launch::new(1, 64).order(order), 64, || {
            let (values, me) = (values().cast::<u32>(), thread_idx_x());
            // SAFETY: a place for each thread, and barriers between writing and reading.
            unsafe {
                values.add(me).write(me);
                sync_threads();
                let mut sum = values.add(63 - me).read();
                for mask in [16, 8, 4, 2, 1] {
                    sum += shuffle_xor(sum, mask);
                }
                sum
            }
        });
        assert_eq!(sums, [[1520; 32], [496; 32]].concat(), "{order:?}");
    }
}

#[test]
fn orders_differ_from_turn_to_turn() {
    let log = std::sync::Mutex::new(Vec::new());
    // SAFETY: nothing is touched but the log.
    unsafe {
        Launch::new(1, 32).order(Order::Seeded(3)).run(|| {
            for _ in 0..2 {
                log.lock().expect("no panic").push(thread_idx_x());
                sync_threads();
            }
        });
    }
    let log = log.into_inner().expect("no panic");
    let (first, second) = log.split_at(32);
    assert_ne!(first, second);
    for turn in [first, second] {
        let mut sorted = turn.to_vec();
        sorted.sort();
        assert_eq!(sorted, (0..32).collect::<Vec<_>>());
    }
}

kernel! {
    /// # Safety
    /// It touches nothing.
    #[launch_bounds(64)]
    unsafe fn bounded() {}
}

kernel! {
    /// # Safety
    /// It touches nothing.
    #[cluster_size(2)]
    unsafe fn clustered() {}
}

#[test]
fn a_launch_is_what_the_kernel_says() {
    // SAFETY: they touch nothing.
    let (bounded, clustered) = (|| unsafe { bounded() }, || unsafe { clustered() });
    assert_eq!(
        message(Launch::new(1, 65), bounded),
        "bounded is launched with blocks of 65 threads, and its #[launch_bounds] say 64 at most"
    );
    assert_eq!(
        message(Launch::new(1, (13, 5)), bounded),
        "bounded is launched with blocks of 65 threads, and its #[launch_bounds] say 64 at most"
    );
    assert_eq!(
        message(Launch::new(2, 1), clustered),
        "clustered is launched with clusters of 1, and its #[cluster_size] is 2: say `.cluster(2)` at the launch"
    );
    // SAFETY: they touch nothing. A kernel that another one calls is a function.
    unsafe {
        Launch::new(1, 64).run(bounded);
        Launch::new(2, 1).cluster(2).run(clustered);
        Launch::new(2, 1).cluster(2).run(|| {
            clustered();
            bounded();
        });
        bounded();
    }
}

#[test]
#[allow(clippy::if_same_then_else, reason = "two barriers in two branches are the mistake")]
fn the_lanes_of_a_warp_come_to_one_instruction() {
    let both = message(Launch::new(1, 32), || {
        // SAFETY: it panics.
        unsafe {
            if thread_idx_x() < 16 {
                ballot(true)
            } else {
                shuffle_xor(1, 1)
            };
        }
    });
    assert_eq!(
        both,
        "the threads of a warp come to one instruction together, and here thread (0, 0, 0) of block (0, 0, 0) came to ballot, \
         and thread (16, 0, 0) of block (0, 0, 0) to shuffle_xor"
    );
    let branches = |lanes: u32| {
        move || {
            // SAFETY: as the assertions say.
            unsafe {
                if thread_idx_x() < lanes {
                    sync_threads();
                } else {
                    sync_threads();
                }
            }
        }
    };
    let text = message(Launch::new(1, 64), branches(40));
    assert!(text.contains("here thread (32, 0, 0) of block (0, 0, 0) came to sync_threads at "), "{text}");
    assert!(text.contains("and thread (40, 0, 0) of block (0, 0, 0) to sync_threads at "), "{text}");
    // Different warps may come to a barrier by different branches.
    // SAFETY: they do.
    unsafe { Launch::new(1, 64).run(branches(32)) };
    let clusters = message(Launch::new(2, 32).cluster(2), || {
        // SAFETY: it panics.
        unsafe {
            if thread_idx_x() < 5 {
                sync_cluster();
            } else {
                sync_cluster();
            }
        }
    });
    assert!(clusters.contains("to sync_cluster at "), "{clusters}");
}

#[test]
fn a_block_has_the_shared_memory_that_a_gpu_has() {
    let text = message(Launch::new(1, 1), || _ = (half(), other_half()));
    assert_eq!(
        text,
        "the kernel's variables of shared! have 61440 bytes, and ptxas takes no more than 49152: take dynamic_shared, whose size \
         the launch says"
    );
    let text = message(Launch::new(1, 1).dynamic_shared(220 << 10), || _ = half());
    assert_eq!(
        text,
        "a block has 256000 bytes of shared memory, 225280 of them dynamic, and no GPU has more than 232448"
    );
}

#[test]
fn an_address_that_is_not_aligned_is_a_panic() {
    let memory = [V4::new([0u32; 4]); 2];
    let p = (&raw const memory).cast::<u32>();
    let odd = p.wrapping_add(1);
    let ending = "is not aligned to the 16 bytes of a `ptx_intrinsics::isa::element::V4<u32>`: a GPU faults there";
    type Case<'a> = (&'a str, &'a dyn Fn());
    // SAFETY: they panic.
    let cases: [Case; 5] = unsafe {
        [
            ("ldg", &|| _ = ldg(odd.cast::<V4<u32>>())),
            ("st", &|| st_global::<Cs>().write(odd.cast::<V4<u32>>().cast_mut(), V4::default())),
            ("volatile", &|| _ = ptx!(ld.volatile.global.v4.u32[odd.cast::<V4<u32>>()])),
            ("predicated", &|| _ = ld_global::<NoHint, NoPrefetch>().read_if(true, odd.cast(), V4::<u32>::default())),
            ("shared", &|| _ = values().cast::<u32>().add(1).cast::<V4<u32>>().read()),
        ]
    };
    for (name, case) in cases {
        let text = message(Launch::new(1, 1), case);
        assert!(text.ends_with(ending), "{name}: {text}");
    }
    // SAFETY: it panics.
    let text = message(Launch::new(1, 1), || unsafe {
        cp_async_cg::<NoPrefetch>().copy(tile().cast::<V4<u32>>(), odd.cast());
    });
    assert!(text.ends_with("is not aligned to the 16 bytes of the copy: a GPU faults there"), "{text}");
}

/// What a thread finds of a copy in shared memory, by what it does after the copy begins.
fn copied(then: fn()) -> u32 {
    let from = [V4::new([7u32, 8, 9, 10]); 1];
    let from = from.as_ptr();
    gather(Launch::new(1, 1), 1, || {
        let to = tile().cast::<V4<u32>>();
        // SAFETY: the copy's own places, which live as long as the launch.
        unsafe {
            cp_async_cg::<NoPrefetch>().copy(to, from);
            then();
            to.cast::<u32>().add(1).read()
        }
    })[0]
}

#[test]
fn a_copy_is_there_when_it_is_waited_for() {
    assert_eq!(copied(|| ()), UNTOUCHED, "nothing waits");
    assert_eq!(copied(cp_async_commit_group), UNTOUCHED, "a group that nobody waits for");
    assert_eq!(copied(cp_async_wait_group::<0>), UNTOUCHED, "a copy of no group");
    let committed = || {
        cp_async_commit_group();
        cp_async_wait_group::<1>();
    };
    assert_eq!(copied(committed), UNTOUCHED, "the newest group is still under way");
    let older = || {
        cp_async_commit_group();
        cp_async_commit_group();
        cp_async_wait_group::<1>();
    };
    assert_eq!(copied(older), 8);
    assert_eq!(copied(cp_async_wait_all), 8);
    let barrier = || {
        let bar = bar();
        // SAFETY: the barrier is this thread's.
        unsafe {
            mbarrier_init(bar, 1);
            cp_async_mbarrier_arrive_noinc(bar);
            while !mbarrier_test_wait_parity(bar, 0) {
                pause();
            }
        }
    };
    assert_eq!(copied(barrier), 8);
}

#[test]
fn each_thread_waits_for_its_own_copies() {
    let from: Vec<V4<u32>> = (0..64).map(|i| V4::new([i; 4])).collect();
    let from = from.as_ptr();
    let found = gather(Launch::new(1, 64), 64, || {
        let (tile, me) = (tile().cast::<V4<u32>>(), thread_idx_x());
        // SAFETY: a place for each thread; it reads what was copied or what was there at first.
        unsafe {
            cp_async_cg::<NoPrefetch>().copy(tile.add(me), from.add(me as usize));
            if me % 2 == 0 {
                cp_async_wait_all();
            }
            sync_threads();
            tile.add(me ^ 1).read().0[0]
        }
    });
    let expected: Vec<u32> = (0..64).map(|me| if me % 2 == 1 { me ^ 1 } else { UNTOUCHED }).collect();
    assert_eq!(found, expected);
}

/// What two threads are told that never pause.
fn told(kernel: impl Fn()) {
    let text = message(Launch::new(1, 2), kernel);
    assert!(text.starts_with("a thread has waited for 5s for a change at 0x"), "{text}");
    let ending = ", and the threads of its block that did not run meanwhile cannot make it: call `pause()` in the loop";
    assert!(text.ends_with(ending), "{text}");
}

#[test]
fn a_loop_of_loads_is_told_to_pause() {
    let flags = [0u32, 0];
    let flags = flags.as_ptr();
    // SAFETY: they only look.
    told(|| unsafe {
        while ptx!(ld.acquire.gpu.global.u32[flags]) == 0 && ptx!(ld.relaxed.gpu.global.u32[flags.add(1)]) == 0 {}
    });
}

#[test]
fn a_loop_at_a_barrier_is_told_to_pause() {
    // SAFETY: the barrier is initialised.
    told(|| unsafe {
        let bar = bar();
        mbarrier_init(bar, 1);
        while !mbarrier_try_wait_parity(bar, 0) {}
    });
}

#[test]
fn a_loop_at_a_lock_is_told_to_pause() {
    let mut taken = 1u32;
    let lock = &raw mut taken;
    // SAFETY: nobody else has it.
    told(|| unsafe { while ptx!(atom.acquire.gpu.global.cas.b32[lock], 0, 1) != 0 {} });
}

/// However long it takes.
#[test]
fn a_loop_that_pauses_is_told_nothing() {
    let mut flag = 0u32;
    let flag = &raw mut flag;
    let kernel = || {
        // SAFETY: one block writes, and the other one reads.
        unsafe {
            if block_idx_x() == 0 {
                std::thread::sleep(Duration::from_millis(6_500));
                ptx!(st.release.gpu.global.u32[flag], 1);
            }
            while (0..10_000).all(|_| ptx!(ld.acquire.gpu.global.u32[flag]) == 0) {
                pause();
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    };
    // SAFETY: as above.
    unsafe { Launch::new(2, 1).resident(2).run(kernel) };
}

/// Says to this program, started again, how many KiB of locals its kernel has.
const LOCALS: &str = "PTX_KERNEL_TEST_LOCALS";

#[inline(never)]
fn with_locals<const BYTES: usize>() -> u32 {
    let mut locals = [0u8; BYTES];
    std::hint::black_box(&mut locals);
    locals.iter().map(|&local| u32::from(local)).sum()
}

/// Not a test: what `locals` starts.
#[test]
fn uses_its_stack() {
    let Ok(locals) = std::env::var(LOCALS) else { return };
    let kernel = || match locals.as_str() {
        "80" => with_locals::<{ 80 << 10 }>(),
        "500" => with_locals::<{ 500 << 10 }>(),
        _ => with_locals::<{ 1100 << 10 }>(),
    };
    println!("{:?}", gather(Launch::new(1, 3), 3, kernel));
}

#[test]
#[cfg(unix)]
fn a_full_stack_is_told() {
    let run = |locals: &str| {
        let mut program = Command::new(std::env::current_exe().expect("this program has a path"));
        program.args(["--exact", "uses_its_stack", "--nocapture"]).env(LOCALS, locals);
        let output = program.output().expect("it starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for enough in ["80", "500"] {
        let (succeeded, complaint) = run(enough);
        assert!(succeeded, "{enough} KiB: {complaint}");
    }
    let (succeeded, complaint) = run("1100");
    assert!(!succeeded);
    let told = "the kernel has no more stack: on a CPU a thread has 1 MiB of it, and on a GPU 512 KiB of local memory at most; hold \
                less in local variables";
    assert!(complaint.lines().any(|line| line == told), "{complaint}");
}
