//! Loads that return other values than the newest one, and stores that are not the last ones of their location, as a GPU's may.

pub(crate) mod compared;
pub(crate) mod delayed;
pub(crate) mod delays;
mod needed;
pub(crate) mod older;

use std::ops::Range;

use crate::check::Event;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::Lanes;
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Late, Machine};
use crate::ptx::access::How;
use crate::weak::delayed::{LateRead, Load};

/// One access in this number of accesses that may go another way than the usual one does.
const RARE: u64 = 2;
/// Ways of one access, at most.
const WAYS: usize = 1 << 10;
/// Rounds in which nothing is written, after which loads return the newest values: a thread that waits sees a write in the end.
const SEEN: u64 = 16;

impl Machine<'_> {
    /// Loads may return every value that the memory model allows.
    pub(crate) fn weaken(&mut self) {
        if let Some(checks) = &mut self.checks {
            checks.remember_values();
        }
    }

    /// The elements that each thread of a group loads.
    #[inline]
    pub(crate) fn watch_load(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        elements: &[Range<usize>],
        how: How,
    ) -> Result<()> {
        if how.scope.is_some() || self.remembers_values() {
            return self.watch_each(group, addresses, bytes, elements, how);
        }
        let [first, others @ ..] = elements else { return Ok(()) };
        self.watch(group, addresses, bytes * first.len(), how)?;
        for part in others {
            let begin = (part.start * bytes) as u64;
            let addresses = addresses.map(|address| address.wrapping_add(begin));
            self.watch(group, &addresses, bytes * part.len(), how)?;
        }
        Ok(())
    }

    fn watch_each(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        elements: &[Range<usize>],
        how: How,
    ) -> Result<()> {
        // Each element of a strong vector is a strong access.
        self.weak.values.clear();
        for element in elements.iter().cloned().flatten() {
            for thread in group.threads() {
                let address = addresses[thread.lane].wrapping_add((element * bytes) as u64);
                if self.weak.late.iter().any(|(lane, _)| *lane == thread.lane) {
                    let value = self.performs_late(thread, address, bytes, how)?;
                    self.weak.values.push((thread.lane, address, value));
                    // Whether it was written was asked when the read began.
                    self.checks.iter_mut().for_each(|checks| checks.brings_unwritten = true);
                    continue;
                }
                if let Some(value) = self.choose_way(thread, address, bytes, how, &|_| true)? {
                    self.weak.values.push((thread.lane, address, value));
                }
                self.watch_one(thread, address, bytes, how)?;
            }
        }
        Ok(())
    }

    /// Whether a write may still be on its way to those who have not seen it.
    pub(crate) fn is_in_time(&mut self) -> bool {
        if self.weak.progress != self.progress {
            (self.weak.progress, self.weak.since) = (self.progress, self.round);
        }
        self.round - self.weak.since < SEEN
    }

    /// A store is put somewhere among those of its location.
    pub(crate) fn choose_place(&mut self, thread: Thread, address: u64, bytes: usize, how: How) -> Result<()> {
        self.choose_way(thread, address, bytes, how, &|_| true)?;
        Ok(())
    }

    /// Whether memory holds what a thread writes.
    #[inline]
    pub(crate) fn lands(&mut self, thread: Thread, address: u64, bytes: usize, value: u64) -> bool {
        if !self.remembers_values() {
            return true;
        }
        let actor = self.actor(thread);
        self.checks.as_mut().is_none_or(|checks| checks.leaves(actor, address, bytes, value))
    }

    /// Chooses how an access goes. Gives what it reads, if memory holds something else. An atomic writes if it finds a value that it
    /// `changes`, or what memory holds.
    #[cold]
    pub(crate) fn choose_way(
        &mut self,
        thread: Thread,
        address: u64,
        bytes: usize,
        how: How,
        changes: &dyn Fn(Option<u64>) -> bool,
    ) -> Result<Option<u64>> {
        self.weak.way = None;
        if !self.remembers_values() || bytes > 8 {
            return Ok(None);
        }
        self.comes_after_loads_of(thread)?;
        let event = self.event(thread, address, bytes, how);
        let most = if self.deviates() { WAYS } else { 1 };
        let Some(checks) = &mut self.checks else { return Ok(None) };
        let ways = checks.ways(event, changes, most);
        let which = self.choose(1, ways.len())?;
        self.weak.way = ways.get(which).copied();
        let value = self.weak.way.and_then(|way| way.value);
        if which > 0
            && let Some(checks) = &mut self.checks
        {
            checks.note_other_way(event, value);
        }
        Ok(value)
    }

    /// An atomic that is executed now and performed later releases what came before it. Gives its epoch.
    pub(crate) fn releases_early(&mut self, thread: Thread, address: u64, bytes: usize, how: How) -> Option<u32> {
        let event = self.event(thread, address, bytes, how);
        self.checks.as_mut()?.releases_early(event)
    }

    /// A thread does something that came before what it has done since then.
    pub(crate) fn in_epoch(
        &mut self,
        thread: Thread,
        epoch: Option<u32>,
        then: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let Some(epoch) = epoch else { return then(self) };
        let actor = self.actor(thread);
        let change =
            |machine: &mut Self, epoch| machine.checks.as_mut().map(|checks| checks.change_epoch(actor, epoch));
        let now = change(self, epoch);
        let done = then(self);
        if let Some(now) = now {
            change(self, now);
        }
        done
    }

    fn event(&self, thread: Thread, address: u64, bytes: usize, how: How) -> Event {
        let event = Event { actor: self.actor(thread), site: self.site, address, bytes, how, engine: None };
        self.checks.as_ref().map_or(event, |checks| checks.named_first(event))
    }

    /// Whether an access may go another way than the usual one.
    pub(crate) fn deviates(&mut self) -> bool {
        self.weak.rests = false;
        self.deviation() == Some(true)
    }

    /// Whether an access waits, or its thread for it.
    pub(crate) fn may_rest(&mut self) -> bool {
        let deviation = self.deviation();
        self.weak.rests = deviation == Some(false);
        deviation.is_some()
    }

    /// Whether the seed lets an access go another way than the usual one, and whether those who run the launch want that.
    fn deviation(&mut self) -> Option<bool> {
        if self.weak.by_caller {
            return Some(true);
        }
        if !self.is_in_time() || self.weak.draw(RARE) > 0 {
            return None;
        }
        let number = self.weak.deviations;
        self.weak.deviations += 1;
        Some(self.launch.only.is_none_or(|only| only.binary_search(&number).is_ok()))
    }

    /// Of the few accesses that go another way, those that wait are told too.
    pub(crate) fn note_wait(&mut self, group: Group, addresses: &Lanes, bytes: usize, how: How) {
        if self.launch.only.is_none() {
            return;
        }
        let thread = group.first();
        let event = self.event(thread, addresses[thread.lane], bytes, how);
        if let Some(checks) = &mut self.checks {
            checks.note_wait(event);
        }
    }

    /// One of several ways, by its number. The seed chooses none before the `first` one.
    fn choose(&mut self, first: usize, count: usize) -> Result<usize> {
        if count < 2 {
            return Ok(0);
        }
        match (self.weak.by_caller, self.weak.chosen.take()) {
            (true, Some(which)) => Ok(which),
            (true, None) => {
                self.weak.asked = count - 1;
                stop(Why::Wrong, "a way has to be chosen")
            }
            (false, _) => Ok(first + self.weak.draw((count - first) as u64) as usize),
        }
    }

    /// An exchange writes, and its read may be performed later. It has found that.
    #[cold]
    pub(crate) fn parts(
        &mut self,
        thread: Thread,
        address: u64,
        bytes: usize,
        how: How,
        found: [u8; 16],
    ) -> Option<LateRead> {
        if bytes > 8 || !self.deviates() {
            return None;
        }
        let event = self.event(thread, address, bytes, how);
        let now = self.read_number(address, bytes).ok()?;
        let number = self.checks.as_mut()?.exchanges(event, now)?;
        Some(LateRead { number, value: u128::from_le_bytes(found) as u64 })
    }

    /// A read is performed late. Gives its value.
    pub(crate) fn performs_late(&mut self, thread: Thread, address: u64, bytes: usize, how: How) -> Result<u64> {
        let late = self.weak.late.iter().find(|(lane, _)| *lane == thread.lane);
        let Some((_, late)) = late.copied() else { return self.read_number(address, bytes) };
        self.comes_after_loads_of(thread)?;
        let event = self.event(thread, address, bytes, how);
        let now = self.read_number(address, bytes)?;
        let ways = self.checks.as_ref().map(|checks| checks.late_ways(event, late.number, now));
        let ways = ways.unwrap_or_default();
        let way = if ways.is_empty() { None } else { ways[self.choose(0, ways.len())?] };
        let value = way.map_or(late.value, |way| way.value.unwrap_or(now));
        if let Some(checks) = &mut self.checks {
            let later = checks.performs_late(event, late.number, way, now);
            if value != now {
                checks.note_other_way(event, Some(value));
            }
            let loads = self.delayed.loads.iter_mut().flat_map(|load| &mut load.late);
            for (_, other) in loads {
                let own = later.iter().find(|(number, _)| *number == other.number);
                own.into_iter().for_each(|(_, value)| other.value = *value);
            }
        }
        Ok(value)
    }

    /// A thread accesses memory before what it has to have acquired.
    #[inline]
    pub(crate) fn comes_after_loads_of(&mut self, thread: Thread) -> Result<()> {
        if self.delayed.loads.is_empty() {
            return Ok(());
        }
        self.comes_after_loads(thread.alone(), false)
    }

    /// A group executes something that comes after its loads that wait. They are late from now on, if it is a fence, or up to the last
    /// acquire.
    pub(crate) fn comes_after_loads(&mut self, group: Group, is_fence: bool) -> Result<()> {
        if !self.remembers_values() {
            return Ok(());
        }
        let before = self.weak.performed.unwrap_or(u64::MAX);
        let is_earlier = |load: &&Load<Late<'_>>| {
            load.number < before && load.group.warp == group.warp && load.group.mask & group.mask != 0
        };
        let own = self.delayed.loads.iter().filter(is_earlier);
        let last = own.filter(|load| is_fence || load.how.acquires).map(|load| load.number).max().unwrap_or_default();
        loop {
            let mut own = self.delayed.loads.iter().filter(is_earlier);
            let Some(load) = own.find(|load| load.number <= last && load.late.is_empty()) else { return Ok(()) };
            self.becomes_late(load.number)?;
        }
    }

    /// A load becomes late, or is performed if it cannot.
    pub(crate) fn becomes_late(&mut self, number: u64) -> Result<()> {
        let Some(place) = self.delayed.loads.iter().position(|load| load.number == number) else { return Ok(()) };
        let load = &self.delayed.loads[place];
        let (bytes, site, may_be_late, compare) = (load.bytes, load.site, load.may_be_late, load.compare);
        let is_load = !load.how.writes;
        let how = How { writes: false, ..load.how };
        let accesses: Vec<(Thread, u64)> =
            load.group.threads().map(|thread| (thread, load.addresses[thread.lane])).collect();
        let mut late = Vec::new();
        for (thread, address) in accesses.into_iter().filter(|_| may_be_late) {
            let now = self.read_number(address, bytes)?;
            let event = Event { site, ..self.event(thread, address, bytes, how) };
            let begins = |machine: &mut Self| machine.checks.as_mut()?.begins_late(event, now, compare);
            let begun = self.apart_from_what_is_read(|machine| match is_load {
                true => machine.reads_to_registers(begins),
                false => begins(machine),
            });
            late.extend(begun.map(|(number, value)| (thread.lane, LateRead { number, value })));
        }
        let load = &mut self.delayed.loads[place];
        let is_late = late.len() == load.group.mask.count_ones() as usize;
        (load.late, load.how) = (late, if is_late { how } else { load.how });
        if is_late { Ok(()) } else { self.perform_load(number) }
    }
}
