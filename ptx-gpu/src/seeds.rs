//! The orders of its threads in which a launch is run, and what they leave.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ptx_interpreter::{Finding, Heap, Left, Newest, Overwritten, Report};

use crate::gpu::Gpu;
use crate::settings::SETTINGS;

/// What makes an order of threads.
#[derive(Clone, Copy)]
pub(crate) struct Seed {
    pub(crate) number: u64,
    /// Whether loads return older values too.
    pub(crate) is_weak: bool,
}

impl Seed {
    /// Whether the program goes on with what this order leaves.
    pub(crate) fn goes_on(self) -> bool {
        self.number == SETTINGS.seed && !self.is_weak
    }
}

/// The orders of each launch. The one with which the program goes on comes first, so that what goes wrong in every order is told of that
/// one.
pub(crate) fn seeds() -> Vec<Seed> {
    let strong = if SETTINGS.weak { <Newest>::ORDERS } else { SETTINGS.seeds };
    let weak = if SETTINGS.weak { SETTINGS.seeds } else { 0 };
    let orders =
        |count: u64, is_weak| (0..count).map(move |at| Seed { number: SETTINGS.seed.wrapping_add(at), is_weak });
    orders(strong, false).chain(orders(weak, true)).collect()
}

/// What an order leaves.
pub(crate) struct After {
    changed: Left,
    heap: Heap,
}

impl Gpu {
    /// What the order leaves that has run last.
    pub(crate) fn after(&self, overwritten: &Mutex<Overwritten>) -> After {
        After { changed: left(&lock(overwritten)), heap: self.heap().clone() }
    }

    /// Memory is as it was.
    pub(crate) fn take_back(&self, overwritten: &Mutex<Overwritten>, heap: &Heap) {
        // SAFETY: as in `left`.
        unsafe { std::mem::take(&mut *lock(overwritten)).put_back() };
        self.heap().clone_from(heap);
    }

    /// Memory is as an order has left it.
    pub(crate) fn put(&self, after: &After) {
        // SAFETY: as in `left`.
        unsafe { after.changed.put() };
        self.heap().clone_from(&after.heap);
    }

    /// Compares what an order with older values leaves with what the others left.
    pub(crate) fn compare(
        &self,
        newest: &mut Newest<Left>,
        seed: Seed,
        report: &Report,
        overwritten: &Mutex<Overwritten>,
    ) -> Option<Finding> {
        let overwritten = lock(overwritten);
        let changed = left(&overwritten);
        if !seed.is_weak {
            newest.add(report, changed);
            return None;
        }
        // SAFETY: what was not overwritten is as it was, and the address is of an allocation.
        let before = |address: u64| overwritten.before(address).unwrap_or_else(|| unsafe { *(address as *const u8) });
        newest.differs(report, &changed, before, |address| self.memory.piece_of(address))
    }
}

/// What the order has changed that has run last.
fn left(overwritten: &Overwritten) -> Left {
    // SAFETY: the allocations are still there, no kernel runs, and what a launch accesses stays open until the call ends.
    unsafe { overwritten.left() }
}

fn lock(overwritten: &Mutex<Overwritten>) -> MutexGuard<'_, Overwritten> {
    overwritten.lock().unwrap_or_else(PoisonError::into_inner)
}
