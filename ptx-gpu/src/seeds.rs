//! The orders of its threads in which a launch is run, and what they leave.

use ptx_interpreter::{Finding, Heap, Newest, Report};

use crate::gpu::Gpu;
use crate::memory::restore;
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
        self.number == 0 && !self.is_weak
    }
}

/// The orders of each launch. The one with which the program goes on comes last, but for those with older values, which are compared
/// with the others.
pub(crate) fn seeds() -> Vec<Seed> {
    let strong = if SETTINGS.weak { Newest::ORDERS } else { SETTINGS.seeds };
    let weak = if SETTINGS.weak { SETTINGS.seeds } else { 0 };
    let strong = (0..strong).rev().map(|number| Seed { number, is_weak: false });
    strong.chain((0..weak).map(|number| Seed { number, is_weak: true })).collect()
}

/// The content of all memory.
pub(crate) struct Content {
    memory: Vec<(u64, Vec<u8>)>,
    heap: Heap,
}

impl Gpu {
    pub(crate) fn content(&self) -> Content {
        Content { memory: self.memory.content(), heap: self.heap().clone() }
    }

    /// Memory is as it was.
    pub(crate) fn restore(&self, content: &Content) {
        restore(&content.memory);
        self.heap().clone_from(&content.heap);
    }

    /// Compares what an order with older values leaves with what the others left.
    pub(crate) fn compare(&self, newest: &mut Newest, seed: Seed, report: &Report) -> Option<Finding> {
        let (places, left): (Vec<u64>, Vec<Vec<u8>>) = self.memory.content().into_iter().unzip();
        if seed.is_weak {
            return newest.differs(report, &left, |piece| self.memory.name_of(places[piece]));
        }
        newest.add(report, left);
        None
    }
}
