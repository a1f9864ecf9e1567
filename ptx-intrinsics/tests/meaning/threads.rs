//! What one thread sees of another: orders, fences, and that what is one value is never seen in parts.
//!
//! Under Miri, what is not ordered is a data race, whenever the threads run.

use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use ptx_intrinsics::catalogue;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::grammar::atomic::Atomic;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::atomics::{Words, change, packed};
use crate::kind;

/// Memory of all threads.
#[derive(Default)]
#[repr(align(64))]
struct Common<T>(UnsafeCell<T>);

// SAFETY: the tests order what they do with it.
unsafe impl<T> Sync for Common<T> {}

impl<T> Common<T> {
    fn at<U>(&self) -> *mut U {
        self.0.get().cast()
    }
}

/// A native run has to meet the moment; Miri finds what is not ordered at once.
const fn rounds(native: usize, miri: usize) -> usize {
    if cfg!(miri) { miri } else { native }
}

/// One thread writes plainly and then publishes, the other waits until it finds that, and reads.
fn passes(publish: impl Fn(*mut B128) + Sync, finds: impl Fn(*mut B128) -> bool + Sync) {
    for round in 1..=rounds(300, 2) as u32 {
        let (data, flag) = (Common::<u32>::default(), Common::<B128>::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: nobody reads it before it is published.
                unsafe { data.at::<u32>().write(round) };
                publish(flag.at());
            });
            while !finds(flag.at()) {
                thread::yield_now();
            }
            // SAFETY: it is published.
            assert_eq!(unsafe { data.at::<u32>().read() }, round);
        });
    }
}

#[test]
fn a_release_is_seen_by_an_acquire() {
    let mut passed = 0;
    macro_rules! pass {
        ($p:ident => $release:expr, $acquire:expr) => {
            // SAFETY: the flag is touched by these alone.
            passes(|$p| unsafe { $release }, |$p| unsafe { $acquire });
            passed += 1;
        };
    }
    macro_rules! widths {
        ($($t:ty, $word:ident;)*) => { $(
            pass!(p => st().release::<Gpu>().write(p.cast::<$t>(), 1 as $t), ld().acquire::<Gpu>().read(p.cast::<$t>()) != 0 as $t);
            pass!(p => ptx!(st.release.cta.shared.$word [p.cast::<$t>()], 1 as $t), ptx!(ld.acquire.cta.shared.$word [p.cast::<$t>()]) != 0 as $t);
        )* };
    }
    widths! { u8, u8; u16, u16; u32, u32; u64, u64; f32, f32; }
    pass!(p => st_global::<NoHint>().release::<Sys>().write(p, B128(1)), ld_global::<NoHint, NoPrefetch>().acquire::<Sys>().read(p) != B128(0));
    pass!(p => st_shared().release::<Cluster>().write(p.cast(), V4::new([1u32; 4])),
        ld_shared().acquire::<Cluster>().read(p.cast::<V4<u32>>()).0[3] != 0);
    // Each element is released by itself.
    pass!(p => st().release::<Gpu>().write(p.cast(), V2::new([0u64, 1])), ld().acquire::<Gpu>().read(p.cast::<V2<u64>>()).0[1] != 0);
    pass!(p => ptx!(red.release.gpu.add.u32 [p.cast::<u32>()], 1), ptx!(atom.acquire.gpu.or.b32 [p.cast::<u32>()], 0) != 0);
    pass!(p => { ptx!(atom.acq_rel.gpu.exch.b64 [p.cast::<u64>()], 1); }, ptx!(atom.acq_rel.gpu.cas.b64 [p.cast::<u64>()], 0, 0) != 0);
    pass!(p => { ptx!(atom.release.sys.exch.b128 [p], B128(1)); }, ptx!(atom.acquire.sys.cas.b128 [p], B128(0), B128(0)) != B128(0));
    pass!(p => { ptx!(red.release.gpu.global.add.noftz.v4.f16 [p.cast::<V4<B16>>()], V4::new([B16(0x3c00); 4])); },
        ptx!(ld.acquire.gpu.global.b16 [p.cast::<B16>()]) != B16(0));
    assert_eq!(passed, 17);
}

#[test]
fn fences_order_what_is_relaxed() {
    let mut passed = 0;
    macro_rules! fences {
        ($($release:expr, $acquire:expr;)*) => { $(
            passes(
                |p| {
                    let fence = || $release;
                    fence();
                    // SAFETY: the flag is touched by these alone.
                    unsafe { ptx!(st.relaxed.gpu.u32 [p.cast::<u32>()], 1) }
                },
                |p| {
                    // SAFETY: as above.
                    let found = unsafe { ptx!(ld.relaxed.gpu.u32 [p.cast::<u32>()]) == 1 };
                    if found {
                        let fence = || $acquire;
                        fence();
                    }
                    found
                },
            );
            passed += 1;
        )* };
    }
    fences! {
        fence_release::<Gpu>(), fence_acquire::<Gpu>();
        fence_acq_rel::<Cta>(), fence_acq_rel::<Cta>();
        fence_sc::<Sys>(), fence_sc::<Sys>();
        membar_cta(), membar_cta();
        membar_gl(), membar_gl();
        membar_sys(), membar_sys();
        fence_mbarrier_init_release_cluster(), fence_acquire_sync_restrict_shared_cluster_cluster();
        fence_release_sync_restrict_shared_cta_cluster(), fence_acquire::<Cluster>();
        fence_proxy_async_generic_release_sync_restrict_shared_cta_cluster(),
            fence_proxy_async_generic_acquire_sync_restrict_shared_cluster_cluster();
        // SAFETY: on a CPU the map is not looked at.
        fence_proxy_tensormap_generic_release::<Gpu>(), unsafe { fence_proxy_tensormap_generic_acquire::<Gpu>(std::ptr::null::<u8>()) };
    }
    assert_eq!(passed, 10);
}

/// Two threads store, fence, and load what the other stored: one of them sees it.
#[test]
fn a_sequentially_consistent_fence_lets_no_store_wait() {
    let fences: [fn(); 7] =
        [fence_sc::<Cta>, fence_sc::<Cluster>, fence_sc::<Gpu>, fence_sc::<Sys>, membar_cta, membar_gl, membar_sys];
    for (number, fence) in fences.into_iter().enumerate() {
        let count = rounds(3000, 24);
        let places: Vec<[Common<u32>; 2]> = (0..count).map(|_| Default::default()).collect();
        let start = Barrier::new(2);
        let run = |own: usize| -> Vec<u32> {
            start.wait();
            let round = |place: &[Common<u32>; 2]| {
                // SAFETY: the words are touched by these alone.
                unsafe {
                    ptx!(st.relaxed.gpu.u32[place[own].at::<u32>()], 1);
                    fence();
                    ptx!(ld.relaxed.gpu.u32[place[1 - own].at::<u32>()])
                }
            };
            places.iter().map(round).collect()
        };
        let [first, second] = thread::scope(|scope| {
            let other = scope.spawn(|| run(1));
            [run(0), other.join().expect("it does not panic")]
        });
        let lost = first.iter().zip(&second).filter(|&seen| seen == (&0, &0)).count();
        assert_eq!(lost, 0, "of {count} rounds with fence {number}");
    }
}

/// A barrier's phase is complete when all have arrived, and then what they did is seen.
#[test]
fn an_arrival_is_seen_by_who_waits() {
    macro_rules! does {
        ($($bar:ident => $what:expr;)*) => {
            // SAFETY: the barrier is initialised, and two threads arrive, once each.
            [$(|$bar| unsafe { $what }),*]
        };
    }
    let waits: [fn(SharedPtr<Mbarrier>) -> bool; 3] = does! {
        bar => mbarrier_test_wait_parity(bar, 0);
        bar => mbarrier_try_wait_parity_as::<Acquire<Cluster>>(bar, 0);
        bar => mbarrier_try_wait_parity_for(bar, 0, 10);
    };
    let arrives: [fn(SharedPtr<Mbarrier>); 4] = does! {
        bar => _ = mbarrier_arrive(bar);
        bar => mbarrier_arrive_as::<Release<Cluster>, _>(SharedClusterPtr::of(bar));
        bar => {
            mbarrier_expect_tx(bar, 16);
            mbarrier_arrive(bar);
            mbarrier_complete_tx(bar, 16);
        };
        bar => _ = mbarrier_arrive_drop(bar);
    };
    for wait in waits {
        for arrive in arrives {
            let (data, memory) = (Common::<[u32; 2]>::default(), Common::<Mbarrier>::default());
            let bar = || SharedPtr::new(memory.at::<Mbarrier>());
            // SAFETY: nobody uses it yet.
            unsafe { mbarrier_init(bar(), 2) };
            thread::scope(|scope| {
                for own in 0..2 {
                    let (data, bar) = (&data, &bar);
                    scope.spawn(move || {
                        // SAFETY: each thread has its own word, and its arrival publishes it.
                        unsafe { data.at::<u32>().add(own).write(own as u32 + 1) };
                        arrive(bar());
                    });
                }
                while !wait(bar()) {
                    thread::yield_now();
                }
                // SAFETY: both have arrived.
                assert_eq!(unsafe { data.at::<[u32; 2]>().read() }, [1, 2]);
            });
        }
    }
}

/// 128 bits are one value: nobody sees the halves of two, neither ordered loads and stores nor atomics.
#[test]
fn a_value_of_128_bits_is_whole() {
    let value = Common::<u128>::default();
    let both = |half: u64| u128::from(half) << 64 | u128::from(half);
    let whole = |value: u128| assert_eq!((value >> 64) as u64, value as u64, "two halves of different values");
    thread::scope(|scope| {
        for thread in 1..=3u64 {
            let value = &value;
            scope.spawn(move || {
                let p = value.at::<u128>();
                for round in 0..rounds(4000, 30) as u64 {
                    let new = both(round * 4 + thread);
                    // SAFETY: all threads touch it by ordered accesses and atomics alone.
                    unsafe {
                        match thread {
                            1 => ptx!(st.relaxed.gpu.b128[p], new),
                            2 => whole(ptx!(atom.exch.b128[p], new)),
                            _ => {
                                let seen = ptx!(ld.relaxed.sys.b128[p]);
                                whole(seen);
                                whole(ptx!(atom.cas.b128[p], seen, new));
                            }
                        }
                        whole(ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(p));
                    }
                }
            });
        }
    });
}

/// Two threads change one value by every operation on every type: nothing of either is lost.
#[test]
#[cfg_attr(miri, ignore = "it walks the whole catalogue, which takes an hour there")]
fn no_change_is_lost() {
    let mut kinds = BTreeSet::new();
    for form in catalogue::forms().filter(|form| kind(form) == 1) {
        let words = Words::of(form.ptx());
        let name = format!("{words:?}");
        if form.ptx().starts_with("atom") && kinds.insert(name) {
            nothing_is_lost(form.ptx(), words);
        }
    }
    assert_eq!(kinds.len(), 50);
}

fn nothing_is_lost(ptx: &str, words: Words<'_>) {
    let count = rounds(2000, 12) as u128;
    let atomic = Atomic::read(ptx).expect("the catalogue's own words");
    let bytes = words.bytes_of_a_number();
    let bits = 8 * bytes as u128;
    let all = u128::MAX >> (128 - bits);
    let lanes = |number: u128| packed(&vec![number; words.numbers], bytes);
    // What a thread puts in. No sum is rounded.
    let value = |thread: u128, round: u128| match (words.op, words.number) {
        ("and", _) => all & !(1 << ((2 * round + thread) % bits)),
        ("or" | "xor", _) => 1 << ((7 * round + thread) % bits),
        ("inc" | "dec", _) => all,
        ("min" | "max", _) => (2 * round + thread) % 128,
        ("add", "f16" | "bf16" | "f32" | "f64") if round >= 64 => 0,
        ("add", "f16") => 0x3c00,
        ("add", "bf16") => 0x3f80,
        ("add", "f32") => 0x3f80_0000,
        ("add", "f64") => 0x3ff0_0000_0000_0000,
        ("add", _) => 1,
        _ => 2 * round + thread + 1,
    };
    let first = if words.op == "and" { all } else { 0 };
    let place = Common::<u128>::default();
    // SAFETY: no other thread runs yet.
    unsafe { place.at::<[u8; 16]>().write(lanes(first)) };
    let run = |thread: u128| -> Vec<u128> {
        let change = |value: u128, compare: Option<u128>| {
            // SAFETY: all threads touch it by atomics alone.
            let old = unsafe { change(atomic, place.at(), lanes(value), compare.map(lanes)) };
            u128::from_le_bytes(old) & all
        };
        let one_more = || {
            let mut seen = change(0, Some(0));
            loop {
                let now = change((seen + 1) & all, Some(seen));
                if now == seen {
                    return seen;
                }
                seen = now;
            }
        };
        let rounds = 0..count;
        rounds.map(|round| if words.op == "cas" { one_more() } else { change(value(thread, round), None) }).collect()
    };
    let found = thread::scope(|scope| {
        let other = scope.spawn(|| run(1));
        [run(0), other.join().expect("it does not panic")].concat()
    });
    // SAFETY: the other thread has ended.
    let last = unsafe { place.at::<[u8; 16]>().read() };
    let values = (0..2).flat_map(|thread| (0..count).map(move |round| value(thread, round)));
    let expected = match words.op {
        "cas" => 2 * count,
        // Each value that was put in was found once, or is still there.
        "exch" => {
            let seen: BTreeSet<u128> = found.into_iter().chain([u128::from_le_bytes(last) & all]).collect();
            assert_eq!(seen, (0..=2 * count).collect(), "{ptx}");
            return;
        }
        // In whatever order.
        _ => values.fold(first, |old, value| words.after(old, value, 0)),
    };
    let whole = bytes * words.numbers;
    assert_eq!(last[..whole], lanes(expected)[..whole], "{ptx}");
}
