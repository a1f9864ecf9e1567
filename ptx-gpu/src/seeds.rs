//! The orders of its threads in which a launch is run, and what they leave.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx_interpreter::{Again, Finding, Heap, Left, Newest, Order, Overwritten, Report};

use crate::gpu::Gpu;
use crate::settings::SETTINGS;
use crate::status::{Result, Status};

/// What makes an order of threads.
#[derive(Clone, Copy)]
pub(crate) struct Seed {
    pub(crate) order: Order<'static>,
    /// Whether loads return older values too.
    pub(crate) is_weak: bool,
}

impl Seed {
    /// Whether the program goes on with what this order leaves.
    pub(crate) fn goes_on(self) -> bool {
        self.order.seed == SETTINGS.seed && !self.is_weak
    }
}

/// The orders of each launch. The one with which the program goes on comes first, so that what goes wrong in every order is told of that
/// one.
pub(crate) fn seeds() -> Vec<Seed> {
    let strong = if SETTINGS.weak { Newest::ORDERS } else { SETTINGS.seeds };
    let weak = if SETTINGS.weak { SETTINGS.seeds } else { 0 };
    let order = |at: u64| match SETTINGS.weak {
        true => Order::newest(SETTINGS.seed, at),
        false => Order::newest(SETTINGS.seed.wrapping_add(at), 0),
    };
    let newest = (0..strong).map(|at| Seed { order: order(at), is_weak: false });
    let older = (0..weak).map(|at| Seed { order: Order::weak(SETTINGS.seed.wrapping_add(at)), is_weak: true });
    newest.chain(older).collect()
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
}

/// Runs of a launch.
pub(crate) struct Runs<'g, R> {
    pub(crate) gpu: &'g Gpu,
    pub(crate) run: R,
    pub(crate) overwritten: &'g Mutex<Overwritten>,
    pub(crate) heap: &'g Heap,
}

impl<R> Runs<'_, R>
where
    Self: Again<Error = Status>,
{
    /// Compares what an order with older values has left with what the others left.
    pub(crate) fn compare(&mut self, newest: &mut Newest, seed: Seed, report: &Report) -> Result<Vec<Finding>> {
        let changed = left(&lock(self.overwritten));
        if seed.is_weak {
            return newest.judge(&seed.order, (report, changed), self);
        }
        newest.add(report, changed, self);
        Ok(Vec::new())
    }
}

impl<R: FnMut(&Order<'_>) -> Result<Report>> Again for Runs<'_, R> {
    type Error = Status;

    fn run(&mut self, order: &Order<'_>) -> Result<(Report, Left)> {
        self.gpu.take_back(self.overwritten, self.heap);
        let report = (self.run)(order)?;
        Ok((report, left(&lock(self.overwritten))))
    }

    fn before(&self, address: u64) -> u8 {
        // SAFETY: what was not overwritten is as it was, and the address is of an allocation.
        lock(self.overwritten).before(address).unwrap_or_else(|| unsafe { *(address as *const u8) })
    }

    fn piece(&self, address: u64) -> (Arc<str>, Range<u64>) {
        self.gpu.memory.piece_of(address)
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
