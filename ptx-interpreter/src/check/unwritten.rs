//! Reads of bytes that nobody has written. It is no mistake to copy what is between the fields of a structure, or to load a vector of
//! which a part is used.

use super::checks::{Checks, Event, Found, NONE};
use super::finding::Kind;
use super::mark::CELL;
use super::missing::Unwritten;
use super::shadow::PAGE;
use crate::memory::spaces::{Owner, owner};
use crate::ptx::fate::Fate;

impl Checks {
    /// An access reads some bytes that nobody has written, the first of this cell at `at`.
    pub(super) fn unwritten(&mut self, event: Event, at: u64) {
        // Whether a barrier is one is known otherwise.
        if event.how.is_of_barrier || self.is_reserved(at) {
            return;
        }
        let (number, count) = self.of_vector;
        let begin = event.address - (number * event.bytes) as u64;
        let all = event.bytes * count;
        // What is longer is no load of registers.
        let offsets: Vec<u64> = (0..all.min(64) as u64).filter(|offset| !self.is_written(begin + offset)).collect();
        let is_first = offsets.first().is_none_or(|first| begin + first >= at / CELL * CELL);
        if !is_first {
            return;
        }
        let is_whole = offsets.len() == all;
        let bytes = offsets.iter().fold(0, |bits, offset| bits | 1 << offset);
        let key = Unwritten { site: self.sites.instruction(event.site), bytes, is_whole };
        match self.unwritten.get_mut(&key) {
            Some(found) => found.times += 1,
            None => {
                let new = self.of_unwritten(event, at);
                self.unwritten.insert(key, new);
            }
        }
    }

    /// Whether an address is in the system's part of shared memory. Cooperative groups clear single bits there, and nobody has written
    /// the words before.
    fn is_reserved(&self, address: u64) -> bool {
        match owner(address, self.cluster as usize) {
            (Owner::Shared(_), at) => self.reserved.is_some_and(|begin| at >= begin),
            _ => false,
        }
    }

    pub(super) fn is_written(&mut self, address: u64) -> bool {
        let page = self.open(address);
        self.shadow.pages[page].values((address % PAGE / CELL) as usize) >> (address % CELL) & 1 == 1
    }

    /// What was read so and matters becomes findings. `loaded` says of a load the bytes of an element, and what becomes of each.
    pub(crate) fn judge_unwritten(&mut self, loaded: impl Fn(u32) -> Option<(usize, Vec<Fate>)>) {
        let mut all: Vec<(Unwritten, Found)> = self.unwritten.drain().collect();
        all.retain(|(unwritten, _)| {
            loaded(unwritten.site).is_none_or(|(bytes, fates)| unwritten.matters(bytes, &fates))
        });
        all.sort_by_key(|(unwritten, _)| (unwritten.site, unwritten.bytes));
        for (Unwritten { site, .. }, found) in all {
            if self.is_raced_for(site) {
                continue;
            }
            let times = found.times - 1;
            let key = (Kind::Uninitialised, site, NONE);
            self.find_as(key, found, 0);
            if let Some((place, _)) = self.seen.get(&key) {
                self.found[*place].times += times;
            }
        }
    }

    /// Whether another thread writes what an instruction reads, and nothing orders the two: then it may come first.
    fn is_raced_for(&self, site: u32) -> bool {
        let is_race = |found: &&Found| matches!(found.kind, Kind::Race | Kind::Order | Kind::Async);
        let reads = |found: &Found| {
            found.places.iter().take(2).any(|place| self.are_one(place.1, site) && place.2.starts_with("reads"))
        };
        self.found.iter().filter(is_race).any(reads)
    }
}
