//! The barrier and the lock of a CPU under `loom`: every order in which two or three threads may run, and every value
//! that a relaxed load may find.
//!
//! The files are the crate's own, compiled here once more with `loom`'s atomics.
#![allow(dead_code, reason = "the crate uses all of them")]

mod barrier;
mod lock;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The atomics that the files find beside them.
mod atomics {
    pub(crate) use loom::sync::atomic::{AtomicBool, Ordering};

    /// What waiting for the lock is: another thread's turn.
    pub(crate) fn wait() {
        loom::thread::yield_now();
    }
}

mod wide {
    pub(crate) use loom::sync::atomic::AtomicU64;
}

#[path = "../../src/cpu/mbarrier.rs"]
mod on_host;

#[path = "../../src/cpu/lock.rs"]
mod lock_of_the_crate;

/// Tries all orders of two threads, and gives how many there were. Of three threads there are too many: of those it tries
/// all in which threads are interrupted twice at most, beside where they wait.
fn all_orders(threads: usize, model: impl Fn() + Sync + Send + 'static) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = (threads > 2).then_some(2);
    builder.check(move || {
        counted.fetch_add(1, Relaxed);
        model();
    });
    count.load(Relaxed)
}
