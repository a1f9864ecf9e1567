//! The barriers of a block, which have numbers: who has come.

use std::cell::{Cell, RefCell};

use ptx_intrinsics::on_cpu::{Brought, Coming};

use crate::WARP_SIZE;

/// How many barriers a block has.
const BARRIERS: usize = 16;

/// The barriers of a block.
#[derive(Default)]
pub(super) struct Barriers {
    now: [Cell<Phase>; BARRIERS],
    /// Phases that are complete, and not told to those who wait.
    complete: RefCell<Vec<Complete>>,
}

/// A phase of a barrier to which all have come.
pub(super) struct Complete {
    pub(super) number: u32,
    pub(super) phase: u64,
    pub(super) threads: Option<u32>,
    pub(super) brought: Brought,
}

/// What a barrier waits for, and what has come.
#[derive(Clone, Copy, Default)]
struct Phase {
    number: u64,
    brought: Brought,
    /// The first that came.
    first: Option<First>,
}

/// How the first thread came: the others have to come alike.
#[derive(Clone, Copy, PartialEq, Eq)]
struct First {
    threads: Option<u32>,
    reduces: bool,
}

impl Barriers {
    /// Counts a thread, and gives the phase that it belongs to.
    ///
    /// # Panics
    /// If the ISA does not say what comes of it.
    pub(super) fn count(&self, coming: &Coming) -> u64 {
        let Coming { name, number, threads, holds, .. } = *coming;
        assert!(number < BARRIERS as u32, "{name}: there is no barrier {number}, a block has {BARRIERS}");
        if let Some(threads) = threads {
            assert!(
                threads > 0 && threads.is_multiple_of(WARP_SIZE),
                "{name}: barrier {number} is for {threads} threads, and the number has to be a multiple of {WARP_SIZE} above 0"
            );
        }
        let barrier = &self.now[number as usize];
        let mut phase = barrier.get();
        let own = First { threads, reduces: holds.is_some() };
        let first = *phase.first.get_or_insert(own);
        assert!(
            first.threads == own.threads,
            "{name}: a thread comes to barrier {number} {}, and another one came to it {}",
            of(own.threads),
            of(first.threads)
        );
        assert!(first.reduces == own.reduces, "{name}: a .red meets a .sync or .arrive at barrier {number}");
        phase.brought.threads += 1;
        phase.brought.holding += u32::from(holds == Some(true));
        barrier.set(phase);
        if threads == Some(phase.brought.threads) {
            self.next(number);
        }
        phase.number
    }

    /// Ends the barrier's phase.
    fn next(&self, number: u32) {
        let barrier = &self.now[number as usize];
        let phase = barrier.replace(Phase { number: barrier.get().number + 1, ..Phase::default() });
        let threads = phase.first.and_then(|first| first.threads);
        let complete = Complete { number, phase: phase.number, threads, brought: phase.brought };
        self.complete.borrow_mut().push(complete);
    }

    /// The phases that are complete when `living` threads of the block have not ended: the threads that wait, and what was brought.
    pub(super) fn complete(&self, living: u32) -> Vec<Complete> {
        for number in 0..BARRIERS as u32 {
            let Phase { brought, first, .. } = self.now[number as usize].get();
            if first.is_some_and(|first| first.threads.is_none()) && brought.threads >= living {
                self.next(number);
            }
        }
        self.complete.take()
    }
}

fn of(threads: Option<u32>) -> String {
    threads.map_or("as one for the whole block".into(), |threads| format!("as one for {threads} threads"))
}
