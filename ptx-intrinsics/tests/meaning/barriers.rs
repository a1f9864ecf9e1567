//! Barriers on a CPU, beside a model that counts in plain numbers.

use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::functions::{Tried, panic_of};

/// With a barrier of so many arrivals, here and as one of the cluster.
pub(crate) fn with_barrier<R>(
    count: u32,
    use_it: impl FnOnce(SharedPtr<Mbarrier>, SharedClusterPtr<Mbarrier>) -> R,
) -> R {
    let mut memory = Mbarrier::default();
    let bar = SharedPtr::new(&raw mut memory);
    // SAFETY: the memory is this function's.
    unsafe { mbarrier_init(bar, count) };
    use_it(bar, SharedClusterPtr::of(bar))
}

/// How many arrivals the phase lacks: an arrival of none tells.
pub(crate) fn pending(bar: SharedPtr<Mbarrier>) -> u32 {
    // SAFETY: nobody else uses the barrier.
    unsafe { mbarrier_pending_count(mbarrier_arrive_no_complete(bar, 0)) }
}

/// A barrier as it should be: counted in plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Model {
    lacks: u32,
    expects: u32,
    bytes: i64,
    phase: u32,
}

impl Model {
    fn new(count: u32) -> Self {
        Self { lacks: count, expects: count, bytes: 0, phase: 0 }
    }

    fn after(mut self, arrivals: u32, bytes: i64, dropped: u32) -> Self {
        self.bytes += bytes;
        self.lacks -= arrivals;
        self.expects -= dropped;
        if self.lacks == 0 && self.bytes == 0 {
            self.lacks = self.expects;
            self.phase += 1;
        }
        self
    }

    /// The barrier is as the model says, by all that tells.
    fn is(self, bar: SharedPtr<Mbarrier>) {
        // SAFETY: nobody else uses the barrier.
        unsafe {
            assert_eq!(mbarrier_test_wait_parity(bar, 0), self.phase % 2 == 1, "{self:?}");
            assert_eq!(mbarrier_test_wait_parity(bar, 1), self.phase.is_multiple_of(2), "{self:?}");
        }
        if self.lacks > 0 {
            assert_eq!(pending(bar), self.lacks, "{self:?}");
        }
    }
}

/// Each arrival and each count of bytes, on a barrier that then waits for other things too, and the waits.
#[test]
fn every_function_of_a_barrier_does_what_it_says() {
    let mut tried = Tried::default();
    const BYTES: u32 = (1 << 20) - 1;
    // How many arrivals there are, and how many of them the function at hand makes.
    for (of, count) in [(1, 1), (5, 1), (5, 3), (BYTES, BYTES), (BYTES, 2)] {
        for bytes in [0, 16, BYTES] {
            macro_rules! arrives {
                ($name:ident $name_as:ident ($($operand:ident)?) $arrivals:expr, $bytes:expr, $dropped:expr) => {
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name }
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name_as::<Release<Cluster>, _> }
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name_as::<Relaxed<Cta>, _> }
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name_as::<Relaxed<Cluster>, _> }
                };
                (@one $operand:tt $arrivals:expr, $bytes:expr, $dropped:expr, $($name:tt)*) => {
                    arrives! { @at SharedPtr $operand $arrivals, $bytes, $dropped, $($name)* }
                    arrives! { @at SharedClusterPtr $operand $arrivals, $bytes, $dropped, $($name)* }
                };
                (@at $pointer:ident ($($operand:ident)?) $arrivals:expr, $bytes:expr, $dropped:expr, $($name:tt)*) => {
                    with_barrier(of, |bar, cluster| {
                        let arrive = form!(tried |bar: $pointer<Mbarrier> $(, $operand: u32)?| $($name)*(bar $(, $operand)?));
                        let model = Model::new(of).after($arrivals, i64::from($bytes), $dropped);
                        let state = arrive(arrives!(@pointer $pointer bar cluster) $(, $operand)?);
                        model.is(bar);
                        arrives! { @state $pointer state bar model of }
                        // What is left of the phase, and the whole of the next one.
                        let mut model = model;
                        for _ in 0..2 {
                            // SAFETY: nobody else uses the barrier.
                            unsafe {
                                if model.bytes > 0 {
                                    mbarrier_complete_tx(bar, model.bytes as u32);
                                    model = model.after(0, -model.bytes, 0);
                                }
                                if model.lacks > 0 {
                                    mbarrier_arrive_count(bar, model.lacks);
                                    model = model.after(model.lacks, 0, 0);
                                }
                            }
                            model.is(bar);
                        }
                    });
                };
                (@pointer SharedPtr $bar:ident $cluster:ident) => { ($bar, $cluster).0 };
                (@pointer SharedClusterPtr $bar:ident $cluster:ident) => { ($bar, $cluster).1 };
                (@state SharedClusterPtr $state:ident $bar:ident $model:ident $of:ident) => { let () = $state; };
                (@state SharedPtr $state:ident $bar:ident $model:ident $of:ident) => {
                    // SAFETY: nobody else uses the barrier.
                    unsafe {
                        assert_eq!(mbarrier_test_wait($bar, $state), $model.phase == 1);
                        assert_eq!(mbarrier_pending_count($state), $of);
                    }
                };
            }
            arrives! { mbarrier_arrive mbarrier_arrive_as () 1, 0, 0 }
            arrives! { mbarrier_arrive_count mbarrier_arrive_count_as (count) count, 0, 0 }
            arrives! { mbarrier_arrive_expect_tx mbarrier_arrive_expect_tx_as (bytes) 1, bytes, 0 }
            arrives! { mbarrier_arrive_drop mbarrier_arrive_drop_as () 1, 0, 1 }
            arrives! { mbarrier_arrive_drop_count mbarrier_arrive_drop_count_as (count) count, 0, count }
            arrives! { mbarrier_arrive_drop_expect_tx mbarrier_arrive_drop_expect_tx_as (bytes) 1, bytes, 1 }
            let more = |bytes: u32| i64::from(bytes);
            let less = |bytes: u32| -i64::from(bytes);
            macro_rules! counts {
                ($count:ident $name:ident $name_as:ident) => {
                    counts! { @one $count $name }
                    counts! { @one $count $name_as::<Relaxed<Cluster>, _> }
                };
                (@one $count:ident $($name:tt)*) => {
                    with_barrier(of, |bar, cluster| {
                        let here = form!(tried |bar: SharedPtr<Mbarrier>, bytes: u32| $($name)*(bar, bytes));
                        let there = form!(tried |bar: SharedClusterPtr<Mbarrier>, bytes: u32| $($name)*(bar, bytes));
                        let mut model = Model::new(of);
                        let half = bytes / 2;
                        for part in [half, bytes - half] {
                            if part == half { here(bar, part) } else { there(cluster, part) };
                            model = model.after(0, $count(part), 0);
                            model.is(bar);
                        }
                        // SAFETY: nobody else uses the barrier.
                        unsafe {
                            mbarrier_arrive_count(bar, of);
                            model = model.after(of, 0, 0);
                            model.is(bar);
                            if model.bytes > 0 { mbarrier_complete_tx(bar, bytes) } else { mbarrier_expect_tx(bar, bytes) }
                            if bytes > 0 {
                                model = model.after(0, -model.bytes, 0);
                            }
                            model.is(bar);
                            assert_eq!(model.phase, 1);
                        }
                    });
                };
            }
            counts! { more mbarrier_expect_tx mbarrier_expect_tx_as }
            counts! { less mbarrier_complete_tx mbarrier_complete_tx_as }
        }
        if count < of {
            with_barrier(of, |bar, _| {
                let arrive =
                    form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_arrive_no_complete(bar, count));
                let drop =
                    form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_arrive_drop_no_complete(bar, count));
                let told = form!(tried |state: MbarrierState| mbarrier_pending_count(state));
                let state = arrive(bar, count);
                let mut model = Model::new(of).after(count, 0, 0);
                model.is(bar);
                assert_eq!(told(state), of);
                let state = drop(bar, 1);
                assert_eq!(told(state), of - count);
                model = model.after(1, 0, 1);
                model.is(bar);
            });
        }
    }
    waits(&mut tried);
    tried.is_all_of(&["mbarrier"]);
}

/// Each wait, in each order, before the phase is complete and after.
fn waits(tried: &mut Tried) {
    macro_rules! waits {
        ($($name:ident $name_as:ident $phase:ident: $t:ty $(, $ns:ident)?;)*) => { $(
            waits! { @one $phase: $t; ($($ns)?) $name }
            waits! { @one $phase: $t; ($($ns)?) $name_as::<Acquire<Cluster>> }
            waits! { @one $phase: $t; ($($ns)?) $name_as::<Relaxed<Cta>> }
            waits! { @one $phase: $t; ($($ns)?) $name_as::<Relaxed<Cluster>> }
        )* };
        (@one $phase:ident: $t:ty; ($($ns:ident)?) $($name:tt)*) => {
            with_barrier(2, |bar, _| {
                $(let $ns = 1000;)?
                let wait = form!(tried |bar: SharedPtr<Mbarrier>, $phase: $t $(, $ns: u32)?| $($name)*(bar, $phase $(, $ns)?));
                for turn in 0..4 {
                    // SAFETY: nobody else uses the barrier.
                    unsafe {
                        let state = mbarrier_arrive(bar);
                        let phase = waits!(@phase $phase state turn);
                        assert!(!wait(bar, phase $(, $ns)?), stringify!($($name)*));
                        mbarrier_arrive(bar);
                        assert!(wait(bar, phase $(, $ns)?), stringify!($($name)*));
                    }
                }
            });
        };
        (@phase state $state:ident $turn:ident) => { ($state, $turn).0 };
        (@phase parity $state:ident $turn:ident) => { ($state, $turn % 2).1 };
    }
    waits! {
        mbarrier_test_wait mbarrier_test_wait_as state: MbarrierState;
        mbarrier_test_wait_parity mbarrier_test_wait_parity_as parity: u32;
        mbarrier_try_wait mbarrier_try_wait_as state: MbarrierState;
        mbarrier_try_wait_for mbarrier_try_wait_for_as state: MbarrierState, ns;
        mbarrier_try_wait_parity mbarrier_try_wait_parity_as parity: u32;
        mbarrier_try_wait_parity_for mbarrier_try_wait_parity_for_as parity: u32, ns;
    }
    with_barrier(1, |bar, _| {
        form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_init(bar, count))(bar, 9);
        assert_eq!(pending(bar), 9);
        form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_init_layout_v0(bar, count))(bar, 1000);
        assert_eq!(pending(bar), 1000);
        let init = form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_init_layout_v1(bar, count));
        init(bar, 511);
        assert_eq!(pending(bar), 511);
        let why = "a barrier of 512 arrivals in the layout v1: 1 to 511 are possible";
        assert_eq!(panic_of(|| init(bar, 512)), why);
        form!(tried |bar: SharedPtr<Mbarrier>| mbarrier_inval(bar))(bar);
    });
}

/// What a barrier cannot count is a panic, and leaves it as it was.
#[test]
fn what_a_barrier_cannot_count_is_a_panic() {
    const MOST: u32 = (1 << 20) - 1;
    for count in [0, MOST + 1] {
        assert_eq!(
            panic_of(|| with_barrier(count, |_, _| ())),
            format!("a barrier of {count} arrivals: 1 to 1048575 are possible")
        );
    }
    with_barrier(2, |bar, _| {
        // SAFETY: nobody else uses the barrier; what is wrong is what this test is about.
        unsafe {
            assert_eq!(panic_of(|| _ = mbarrier_arrive_count(bar, 3)), "a barrier's phase expects so many arrivals");
            mbarrier_arrive_drop_count(bar, 2);
            assert_eq!(panic_of(|| _ = mbarrier_arrive_drop(bar)), "a barrier's phase expects so many arrivals");
        }
    });
    with_barrier(2, |bar, _| {
        // SAFETY: as above.
        unsafe {
            mbarrier_expect_tx(bar, MOST);
            assert_eq!(
                panic_of(|| mbarrier_expect_tx(bar, 1)),
                "a barrier's phase lacks 1048576 bytes: at most 1048575 are possible"
            );
            mbarrier_complete_tx(bar, MOST);
            mbarrier_complete_tx(bar, MOST);
            assert_eq!(
                panic_of(|| mbarrier_complete_tx(bar, 1)),
                "a barrier's phase lacks -1048576 bytes: at most 1048575 are possible"
            );
            assert_eq!(pending(bar), 2);
        }
    });
}
