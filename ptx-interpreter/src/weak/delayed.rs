//! Stores that nobody sees yet, and loads that are not performed yet.

use std::collections::HashMap;

use crate::machine::group::{Group, Thread};
use crate::machine::lanes::Lanes;
use crate::ptx::access::How;

/// A store that nobody sees yet.
pub(crate) struct Store {
    pub(crate) due: u64,
    pub(crate) thread: Thread,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) value: u64,
}

/// A read that comes before something that was executed already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateRead {
    pub(crate) number: u32,
    pub(crate) value: u64,
}

/// A load that is not performed yet.
pub(crate) struct Load<Performs> {
    /// Loads are numbered as they are executed.
    pub(crate) number: u64,
    pub(crate) due: u64,
    pub(crate) group: Group,
    pub(crate) addresses: Lanes,
    pub(crate) bytes: usize,
    pub(crate) how: How,
    /// Whether accesses and fences that come after it may be executed before it is performed.
    pub(crate) may_be_late: bool,
    /// Whether its thread does nothing before it is performed.
    pub(crate) rests: bool,
    /// Of an atomic that compares what it compares with. It writes nothing if it is late, so it returns something else then.
    pub(crate) compare: Option<u64>,
    /// Of the lanes that it is too late for: the numbers of their reads, and what they may return in any case.
    pub(crate) late: Vec<(usize, LateRead)>,
    pub(crate) site: u32,
    /// The places of the registers that it writes.
    pub(crate) to: Vec<usize>,
    pub(crate) event: Performs,
}

/// What waits.
pub(crate) struct Delayed<Performs> {
    pub(crate) stores: Vec<Store>,
    pub(crate) loads: Vec<Load<Performs>>,
    /// Loads so far.
    pub(crate) count: u64,
    /// What was in the words of global memory that were stored to since the last proxy fence.
    pub(crate) before: HashMap<u64, u32>,
}

impl<Performs> Default for Delayed<Performs> {
    fn default() -> Self {
        Delayed { stores: Vec::new(), loads: Vec::new(), count: 0, before: HashMap::new() }
    }
}

fn meet((one, bytes): (u64, usize), (other, others): (u64, usize)) -> bool {
    one < other + others as u64 && other < one + bytes as u64
}

impl Store {
    pub(crate) fn is_of(&self, group: Group) -> bool {
        self.thread.warp == group.warp && group.mask >> self.thread.lane & 1 == 1
    }

    pub(crate) fn meets(&self, thread: Thread, address: u64, bytes: usize) -> bool {
        (self.thread.warp, self.thread.lane) == (thread.warp, thread.lane)
            && meet((self.address, self.bytes), (address, bytes))
    }
}

impl<Performs> Load<Performs> {
    /// Whether it is performed before a later read of its place. Not if that makes it late, as an atomic does.
    pub(crate) fn is_before(&self, later: How) -> bool {
        self.late.is_empty() && self.how.scope.is_some() && !(self.may_be_late && later.writes)
    }

    pub(crate) fn meets(&self, thread: Thread, address: u64, bytes: usize) -> bool {
        let is_own = self.group.warp == thread.warp && self.group.mask >> thread.lane & 1 == 1;
        is_own && meet((self.addresses[thread.lane], self.bytes), (address, bytes))
    }
}
