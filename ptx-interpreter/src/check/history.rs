//! The writes that loads may return and that stores may be put before, of every location that was written.

use std::collections::HashMap;

use super::actor::Actor;
use super::coherence::Location;
use super::shadow::QuickMap;

/// Bytes that are remembered together: no number of at most eight bytes is in two of them.
const PLACE: u64 = 16;

/// What a read observes.
#[derive(Clone, Debug)]
pub(super) struct Observed<R> {
    /// Which write of its location, if that is not forgotten.
    pub(super) at: Option<usize>,
    /// What a strong one hands over.
    pub(super) record: Option<R>,
    /// Whether that is a weak write of its own thread.
    pub(super) is_own_weak: bool,
}

/// The locations of each place. Those of one place do not overlap.
#[derive(Debug)]
pub(super) struct History<R> {
    places: QuickMap<Vec<Location<R>>>,
    /// What the current access has read.
    pub(super) observed: Option<Observed<R>>,
    /// Late reads so far.
    pub(super) late: u32,
    /// The last late read of each thread that comes before a fence which acquires.
    pub(super) fences: HashMap<Actor, u32>,
    /// The late read of the exchange that is executed now.
    pub(super) exchange: Option<u32>,
    /// The epoch of each thread's first access.
    pub(super) first: HashMap<Actor, u32>,
}

impl<R> Default for History<R> {
    fn default() -> Self {
        History {
            places: QuickMap::default(),
            observed: None,
            late: 0,
            fences: HashMap::new(),
            exchange: None,
            first: HashMap::new(),
        }
    }
}

impl<R: Clone> History<R> {
    pub(super) fn location(&self, address: u64, bytes: usize) -> Option<&Location<R>> {
        self.places.get(&(address / PLACE))?.iter().find(|location| location.is(address, bytes))
    }

    pub(super) fn change(&mut self, address: u64, bytes: usize) -> Option<&mut Location<R>> {
        self.places.get_mut(&(address / PLACE))?.iter_mut().find(|location| location.is(address, bytes))
    }

    /// A thread accesses memory.
    pub(super) fn begins(&mut self, actor: Actor, epoch: u32) {
        self.first.entry(actor).or_insert(epoch);
    }

    /// Whether nothing overlaps in part.
    pub(super) fn fits(&self, address: u64, bytes: usize) -> bool {
        let mut place = self.places.get(&(address / PLACE)).into_iter().flatten();
        place.all(|location| location.is(address, bytes) || !location.meets(address, bytes as u64))
    }

    /// A location is written, where memory holds that now. What overlaps in part is forgotten.
    pub(super) fn open(&mut self, address: u64, bytes: usize, now: u64) {
        let place = self.places.entry(address / PLACE).or_default();
        place.retain(|location| location.is(address, bytes) || !location.meets(address, bytes as u64));
        match place.iter_mut().find(|location| location.is(address, bytes)) {
            Some(location) => location.hold(now),
            None => place.push(Location::new(address, bytes, now)),
        }
    }

    /// Forgets what was written to some bytes.
    pub(super) fn forget(&mut self, address: u64, bytes: u64) {
        (address / PLACE..=(address + bytes - 1) / PLACE).for_each(|place| drop(self.places.remove(&place)));
    }
}
