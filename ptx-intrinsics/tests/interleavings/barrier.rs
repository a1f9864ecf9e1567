//! A barrier's phase is complete exactly once, when all have come; who waits then sees what they did, and none waits
//! for ever.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::atomics::Ordering;
use crate::on_host::Address;
use crate::wide::AtomicU64;
use crate::{all_orders, on_host};

/// A barrier, and what its threads did before they arrived.
struct Block {
    word: AtomicU64,
    done: [UnsafeCell<u32>; 3],
    /// How many completed a phase: found it complete that was not when they arrived.
    seen: AtomicU64,
}

// SAFETY: what they did is looked at after the barrier, or `loom` says that it is not.
unsafe impl Sync for Block {}
// SAFETY: as above.
unsafe impl Send for Block {}

impl Block {
    fn of(arrivals: u32) -> Arc<Self> {
        let done = [UnsafeCell::new(0), UnsafeCell::new(0), UnsafeCell::new(0)];
        let block = Arc::new(Self { word: AtomicU64::new(0), done, seen: AtomicU64::new(0) });
        // SAFETY: nobody uses it yet.
        unsafe { on_host::init(block.bar(), arrivals) };
        block
    }

    fn bar(&self) -> Address {
        (&raw const self.word).cast_mut().cast()
    }

    fn does(&self, thread: usize) {
        // SAFETY: each thread has its own, and nobody looks before it arrives.
        self.done[thread].with_mut(|done| unsafe { *done += 1 });
    }

    /// That so many threads have done their part, so often.
    fn finds(&self, threads: usize, times: u32) {
        for done in &self.done[..threads] {
            // SAFETY: all have arrived after it.
            done.with(|done| assert_eq!(unsafe { *done }, times));
        }
    }

    fn arrive(&self, count: u32, bytes: u32, dropped: u32) -> u64 {
        // SAFETY: it is initialised, and nobody arrives too often.
        unsafe { on_host::arrive(self.bar(), count, bytes, dropped) }
    }

    fn complete(&self, bytes: u32) {
        // SAFETY: as above.
        unsafe { on_host::complete(self.bar(), bytes) }
    }

    fn expect(&self, bytes: u32) {
        // SAFETY: as above.
        unsafe { on_host::expect(self.bar(), bytes) }
    }

    fn is_complete(&self, parity: bool) -> bool {
        // SAFETY: as above.
        unsafe { on_host::is_complete(self.bar(), parity) }
    }

    fn wait(&self, parity: bool) {
        while !self.is_complete(parity) {
            thread::yield_now();
        }
    }

    /// The barrier as it has to be in the end: pending, expected, bytes, parity.
    fn ends(&self, pending: u64, expected: u64, parity: u64) {
        let expected = pending | expected << 20 | parity << 63;
        assert_eq!(self.word.load(Ordering::Relaxed), expected, "the phase was completed once");
    }
}

/// What a thread of the block does.
type Part = Box<dyn Fn(&Block) + Send>;

/// Runs these as threads, the last one here.
fn run(block: &Arc<Block>, mut threads: Vec<Part>) {
    let here = threads.pop().expect("there is one");
    let others: Vec<_> = threads
        .into_iter()
        .map(|other| {
            let block = block.clone();
            thread::spawn(move || other(&block))
        })
        .collect();
    here(block);
    others.into_iter().for_each(|other| other.join().expect("it does not panic"));
}

macro_rules! threads {
    ($($thread:expr),* $(,)?) => { vec![$(Box::new($thread) as Part),*] };
}

/// Says how many orders there were, of which there is more than one.
fn try_all(threads: usize, model: impl Fn() + Sync + Send + 'static) {
    let orders = all_orders(threads, model);
    println!("{orders} orders");
    assert!(orders > 1);
}

#[test]
fn two_arrive_and_wait() {
    try_all(2, || {
        let block = Block::of(2);
        let part = |thread: usize| {
            move |block: &Block| {
                block.does(thread);
                block.arrive(1, 0, 0);
                block.wait(false);
                block.finds(2, 1);
            }
        };
        run(&block, threads![part(0), part(1)]);
        block.ends(2, 2, 1);
    });
}

#[test]
fn two_go_through_two_phases() {
    try_all(2, || {
        let block = Block::of(2);
        let part = |thread: usize| {
            move |block: &Block| {
                for phase in [false, true] {
                    block.does(thread);
                    block.arrive(1, 0, 0);
                    block.wait(phase);
                }
                block.finds(2, 2);
            }
        };
        run(&block, threads![part(0), part(1)]);
        block.ends(2, 2, 0);
    });
}

#[test]
fn three_arrive_and_one_waits() {
    try_all(3, || {
        let block = Block::of(3);
        let part = |thread: usize| {
            move |block: &Block| {
                block.does(thread);
                block.arrive(1, 0, 0);
            }
        };
        let waits = |block: &Block| {
            block.does(2);
            block.arrive(1, 0, 0);
            block.wait(false);
            block.finds(3, 1);
        };
        run(&block, threads![part(0), part(1), waits]);
        block.ends(3, 3, 1);
    });
}

/// The state that an arrival gives is of its own phase: exactly one arrival is the last one.
#[test]
fn one_arrival_alone_is_the_last() {
    try_all(2, || {
        let block = Block::of(2);
        let part = |block: &Block| {
            let state = block.arrive(1, 0, 0);
            assert!(!on_host::parity(state), "it is the first phase");
            block.seen.fetch_add(u64::from(on_host::pending(state) == 1), Ordering::Relaxed);
        };
        run(&block, threads![part, part]);
        assert_eq!(block.seen.load(Ordering::Relaxed), 1);
        block.ends(2, 2, 1);
    });
}

/// A thread expects bytes, another one brings them, at whatever time: neither completes the phase alone.
#[test]
fn bytes_come_before_or_after_they_are_expected() {
    try_all(2, || {
        let block = Block::of(1);
        let brings = |block: &Block| {
            block.does(0);
            block.complete(16);
        };
        let expects = |block: &Block| {
            block.does(1);
            block.arrive(1, 16, 0);
            block.wait(false);
            block.finds(2, 1);
        };
        run(&block, threads![brings, expects]);
        block.ends(1, 1, 1);
    });
}

#[test]
fn bytes_come_in_two_parts() {
    try_all(3, || {
        let block = Block::of(1);
        let brings = |thread: usize| {
            move |block: &Block| {
                block.does(thread);
                block.complete(16);
            }
        };
        let expects = |block: &Block| {
            block.expect(16);
            block.does(2);
            block.arrive(1, 16, 0);
            block.wait(false);
            block.finds(3, 1);
        };
        run(&block, threads![brings(0), brings(1), expects]);
        block.ends(1, 1, 1);
    });
}

/// Who drops out is counted in this phase, and in none after it.
#[test]
fn one_drops_out() {
    try_all(2, || {
        let block = Block::of(2);
        let drops = |block: &Block| {
            block.does(0);
            block.arrive(1, 0, 1);
        };
        let stays = |block: &Block| {
            block.does(1);
            block.arrive(1, 0, 0);
            block.wait(false);
            block.finds(2, 1);
            block.arrive(1, 0, 0);
            block.wait(true);
        };
        run(&block, threads![drops, stays]);
        block.ends(1, 1, 0);
    });
}
