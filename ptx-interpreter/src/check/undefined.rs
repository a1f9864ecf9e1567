//! Values that are undefined, and that somebody uses all the same: what is loaded of bytes that nobody has written, and what a shuffle takes
//! from a lane that is not there; and registers to which nothing was written. To have them is no mistake, nor to compute with them: compilers copy what is between the fields of a
//! structure, and rows of a matrix beyond the last one are computed with the others and then not stored.

use super::actor::Actor;
use super::cause::{Absence, Cause, Origin};
use super::checks::{Checks, Event, Found, NONE};
use super::finding::Kind;
use super::mark::{CELL, remove_range};
use super::shadow::PAGE;
use crate::memory::begun::Copy;
use crate::memory::gaps::Gaps;
use crate::memory::spaces::{Owner, owner};
use crate::ptx::access::How;

impl Checks {
    /// A thread does something by a value that is undefined.
    pub(crate) fn uses_undefined(&mut self, cause: Cause, (actor, site): (Actor, u32), what: &str) {
        match cause {
            Cause::Absent { reader, site: from, lane, why } => {
                self.uses_absent((reader, from), (lane, why), (actor, site, what));
            }
            Cause::Unset => self.uses_unset((actor, site), (actor, site, what)),
            Cause::ReadUnset { reader, site: from } => self.uses_unset((reader, from), (actor, site, what)),
            Cause::Unwritten { reader, site: load, begin, bytes, at } => {
                let event = Event { actor: reader, site: load, address: begin, bytes, how: How::READ, engine: None };
                self.unwritten(load, |checks| {
                    let mut found = checks.of_unwritten(event, at);
                    found.places.push((actor, site, what.into()));
                    found
                });
            }
        }
    }

    fn uses_absent(&mut self, by: (Actor, u32), (lane, why): (usize, Absence), user: (Actor, u32, &str)) {
        if self.is_known(Kind::Uninitialised, (by.1, user.1), 0) {
            return;
        }
        let (why, help) = match why {
            Absence::HasEnded => (
                "which has ended",
                "let threads that have nothing to do go on until the last shuffle, with a value that changes nothing",
            ),
            Absence::NotInBlock => (
                "which the block does not have",
                "launch blocks of whole warps, of a multiple of 32 threads; or use the value only where the lane is there",
            ),
            Absence::NotInMask => (
                "which is not in the mask",
                "let all lanes whose values are needed execute the shuffle, and name them in its mask; or use the value only where the lane is there",
            ),
        };
        self.find(Found {
            kind: Kind::Uninitialised,
            title: "a value is used that a shuffle took from a lane which was not there".into(),
            places: vec![
                (by.0, by.1, format!("shuffles the register of lane {lane}, {why}")),
                (user.0, user.1, user.2.into()),
            ],
            notes: vec!["PTX leaves undefined what such a shuffle gives, and so what is computed with it".into()],
            help: help.into(),
            times: 1,
        });
    }

    /// What reads the register mostly is what does something by it.
    fn uses_unset(&mut self, by: (Actor, u32), (actor, site, what): (Actor, u32, &str)) {
        const READS: &str = "reads a register to which nothing was written before";
        let second = if by == (actor, site) { NONE } else { site };
        if self.is_known(Kind::Uninitialised, (by.1, second), 0) {
            return;
        }
        let places = match by == (actor, site) {
            true => vec![(actor, site, format!("{READS}, and {what}"))],
            false => vec![(by.0, by.1, READS.into()), (actor, site, what.into())],
        };
        self.find(Found {
            kind: Kind::Uninitialised,
            title: "a value is used of a register to which nothing was written".into(),
            places,
            notes: vec!["mostly it is a variable that some way through the function does not set".into()],
            help: "give the variable a value where it is declared, or on each way to its use".into(),
            times: 1,
        });
    }

    /// An access reads some bytes that nobody has written, the first of this cell at `at`.
    pub(super) fn reads_unwritten(&mut self, event: Event, at: u64) {
        // Whether a barrier is one is known otherwise.
        if event.how.is_of_barrier || self.is_reserved(at) {
            return;
        }
        if self.brings_to_registers {
            self.brings_unwritten = true;
            return;
        }
        self.unwritten(event.site, |checks| checks.of_unwritten(event, at));
    }

    /// A finding at an instruction, unless it turns out that another thread may write what it reads.
    fn unwritten(&mut self, site: u32, found: impl FnOnce(&Checks) -> Found) {
        let site = self.sites.instruction(site);
        if let Some(known) = self.unwritten.get_mut(&site) {
            known.times += 1;
            return;
        }
        let found = found(self);
        self.unwritten.insert(site, found);
    }

    /// Whether an address is in the system's part of shared memory. Cooperative groups clear single bits there, and nobody has written
    /// the words before.
    fn is_reserved(&self, address: u64) -> bool {
        match owner(address, self.cluster as usize) {
            (Owner::Shared(_), at) => self.reserved.is_some_and(|begin| at >= begin),
            _ => false,
        }
    }

    /// Which of some bytes have no value, a bit for each, if these are `written`; and why, if what was stored there is undefined.
    pub(crate) fn without_value(&self, address: u64, bytes: usize, written: u64) -> (u64, Option<Origin>) {
        let mut origin = None;
        if written.trailing_ones() as usize >= bytes && !self.has_undefined(address, bytes) {
            return (0, None);
        }
        let is_without = |offset: &u64| {
            let at = self.first_address_of(address + offset);
            let kept = self.undefined.get(&(at / CELL)).filter(|(own, _)| own >> (at % CELL) & 1 == 1);
            origin = origin.or(kept.map(|(_, origin)| *origin));
            kept.is_some() || written >> offset & 1 == 0 && !self.is_reserved(at)
        };
        let without = (0..bytes as u64).filter(is_without).fold(0, |all, offset| all | 1 << offset);
        (without, origin)
    }

    /// Which of some bytes are written, a bit for each.
    pub(crate) fn written(&mut self, address: u64, bytes: usize) -> u64 {
        let is_written = |offset: &u64| {
            let at = self.first_address_of(address + offset);
            let page = self.open(at);
            self.shadow.pages[page].values((at % PAGE / CELL) as usize) >> (at % CELL) & 1 == 1
        };
        (0..bytes as u64).filter(is_written).fold(0, |all, offset| all | 1 << offset)
    }

    /// What is stored there now is undefined, as far as a bit says so, or has a value.
    pub(crate) fn stores_undefined(&mut self, address: u64, bytes: usize, without: u64, origin: Option<Origin>) {
        for offset in 0..bytes as u64 {
            let at = self.first_address_of(address + offset);
            let own = 1u8 << (at % CELL);
            match origin.filter(|_| without >> offset & 1 == 1) {
                Some(origin) => self.undefined.entry(at / CELL).or_insert((0, origin)).0 |= own,
                None => self.has_value_at(at, own),
            }
        }
    }

    fn has_value_at(&mut self, at: u64, own: u8) {
        if let Some((bytes, _)) = self.undefined.get_mut(&(at / CELL)) {
            *bytes &= !own;
            if *bytes == 0 {
                self.undefined.remove(&(at / CELL));
            }
        }
    }

    /// Whether something undefined is stored in some bytes, or beside them.
    fn has_undefined(&self, address: u64, bytes: usize) -> bool {
        let cells = (0..bytes as u64 + CELL).step_by(CELL as usize);
        !self.undefined.is_empty()
            && cells.into_iter().any(|at| self.undefined.contains_key(&(self.first_address_of(address + at) / CELL)))
    }

    /// Whether nobody has written some of what was read to registers since this was asked before.
    pub(crate) fn brings_unwritten(&mut self) -> bool {
        std::mem::take(&mut self.brings_unwritten)
    }

    /// An engine reads what was stored, and what it does with it is not followed, unless it copies that to shared memory.
    pub(super) fn engine_reads(&mut self, event: Event) {
        if self.brings_to_registers || self.undefined.is_empty() {
            return;
        }
        let mut parts = (0..event.bytes).step_by(64).map(|at| (event.address + at as u64, (event.bytes - at).min(64)));
        if let Some(origin) = parts.find_map(|(at, bytes)| self.without_value(at, bytes, u64::MAX).1) {
            self.uses_undefined(origin.cause, (event.actor, event.site), "uses it");
        }
    }

    /// Bytes are copied to shared memory. Those that nobody has written have no value there.
    pub(crate) fn copies(&mut self, (reader, site): (Actor, u32), copy: &Copy) {
        for offset in 0..copy.read.min(copy.size) as u64 {
            let at = copy.from + offset;
            let written = self.written(at, 1);
            let (without, kept) = self.without_value(at, 1, written);
            let cause = Cause::Unwritten { reader, site, begin: copy.from, bytes: copy.read, at };
            let origin = kept.unwrap_or(Origin::new(cause, false));
            self.stores_undefined(copy.to + offset, 1, without, Some(origin));
        }
    }

    /// Bytes are copied, and what is undefined of them is so there.
    pub(crate) fn copies_undefined(&mut self, from: u64, to: u64, bytes: usize) {
        for offset in 0..bytes as u64 {
            let (without, origin) = self.without_value(from + offset, 1, 1);
            self.stores_undefined(to + offset, 1, without, origin);
        }
    }

    /// Where bytes of the memory outside are that somebody has stored and that have no values.
    pub(super) fn undefined_outside(&self) -> Vec<(u64, u64)> {
        let cells = self.undefined.iter().filter(|(cell, _)| owner(**cell * CELL, 1).0 == Owner::Outside);
        let bytes = cells.flat_map(|(cell, (own, _))| {
            let at = (0..CELL).filter(move |byte| own >> byte & 1 == 1);
            at.map(move |byte| (cell * CELL + byte, cell * CELL + byte + 1))
        });
        Gaps::of(bytes.collect()).ranges().to_vec()
    }

    /// Bytes are written otherwise.
    #[inline]
    pub(crate) fn has_values_now(&mut self, address: u64, bytes: usize) {
        if !self.undefined.is_empty() {
            let begin = self.first_address_of(address);
            let last = (begin + (bytes as u64).max(1) - 1) / CELL;
            remove_range(&mut self.undefined, begin / CELL, last - begin / CELL + 1);
        }
    }

    /// What was read so becomes findings.
    pub(crate) fn judge_unwritten(&mut self) {
        let mut all: Vec<(u32, Found)> = self.unwritten.drain().collect();
        all.sort_by_key(|(site, _)| *site);
        for (site, found) in all {
            if !self.is_raced_for(site) {
                self.find_as((Kind::Uninitialised, site, NONE), found, 0);
            }
        }
    }

    /// Whether another thread writes what an instruction reads, and nothing orders the two: then it may come first.
    fn is_raced_for(&self, site: u32) -> bool {
        let is_race = |found: &&Found| matches!(found.kind, Kind::Race | Kind::Order | Kind::Async);
        let says_reads =
            |what: &str| what.starts_with("reads") || what.starts_with("begins") && what.contains(" reads ");
        let reads = |found: &Found| {
            found.places.iter().take(2).any(|place| self.are_one(place.1, site) && says_reads(&place.2))
        };
        self.found.iter().filter(is_race).any(reads)
    }
}
