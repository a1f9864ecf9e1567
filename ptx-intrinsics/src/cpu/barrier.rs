//! The barriers of a block and of a cluster. Outside of an executor a thread is the only one.

use core::panic::Location;

use super::thread::{self, Brought, Coming};

/// Comes to a barrier of its block, by the instruction of that name, and waits: what all bring. `at` is where the instruction is, if
/// all threads of a warp execute it together.
pub(crate) fn come(
    name: &'static str,
    at: Option<&'static Location<'static>>,
    number: u32,
    threads: Option<u32>,
    holds: Option<bool>,
) -> Brought {
    let coming = Coming { name, at, number, threads, holds };
    thread::current().map_or_else(|| Brought::by_one(holds), |thread| thread.come(coming))
}

/// Arrives at a barrier of its block and goes on.
pub(crate) fn arrive(name: &'static str, number: u32, threads: u32) {
    if let Some(thread) = thread::current() {
        thread.arrive(Coming { name, at: None, number, threads: Some(threads), holds: None });
    }
}

/// Arrives at the barrier of its cluster and goes on.
pub(crate) fn arrive_at_cluster(name: &'static str) {
    if let Some(thread) = thread::current() {
        thread.arrive_at_cluster(name);
    }
}

/// Waits until all threads of its cluster have arrived.
pub(crate) fn wait_for_cluster(name: &'static str, at: Option<&'static Location<'static>>) {
    if let Some(thread) = thread::current() {
        thread.wait_for_cluster(name, at);
    }
}
