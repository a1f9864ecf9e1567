//! `st`.

use smallvec::SmallVec;

use crate::alu::Type;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes};
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::memory::all_aligned;
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Space};
use crate::watch::group::Written;

struct Store {
    space: Space,
    /// Bytes of an element.
    bytes: usize,
    to: Operand,
    from: Vec<Operand>,
    how: How,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ty = Type::parse(words.last()?)?;
    let mut operands = operands.into_iter();
    let (to, from) = (operands.next()?, operands.next()?.lanes());
    let store = Store {
        space: Space::of(words),
        bytes: ty.bits as usize / 8,
        to,
        from: from.into_iter().map(|lane| lane.of_type(ty)).collect(),
        how: How::store(words),
    };
    Some(Box::new(store))
}

impl Step for Store {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let mut addresses = [0; LANES];
        machine.addresses(group, self.space, &self.to, &mut addresses)?;
        let whole = self.bytes * self.from.len();
        all_aligned(group, &addresses, whole)?;
        machine.count_access(group.mask, &addresses, whole);
        // Each element of a strong vector is a strong access.
        let has_all = !self.from.iter().any(|from| matches!(from, Operand::Sink));
        let is_one = has_all && self.how.scope.is_none() && !machine.remembers_values();
        if is_one {
            machine.perform_loads_before(group, &addresses, whole)?;
            self.watch(machine, group, &addresses, &self.from)?;
        }
        machine.watch_stored(group, &addresses, self.bytes, &self.from);
        if is_one && self.bytes <= 8 && machine.stores_at_once() {
            return self.at_once(machine, group, &addresses);
        }
        for (number, from) in self.from.iter().enumerate() {
            if let Operand::Sink = from {
                continue;
            }
            let places = addresses.map(|address| address.wrapping_add((number * self.bytes) as u64));
            if !is_one {
                machine.perform_loads_before(group, &places, self.bytes)?;
                self.watch(machine, group, &places, std::slice::from_ref(from))?;
            }
            self.put(machine, group, &places, from)?;
        }
        Ok(())
    }
}

impl Store {
    /// The threads of a group store, and memory has it.
    fn at_once(&self, machine: &mut Machine<'_>, group: Group, addresses: &Lanes) -> Result<()> {
        let places = machine.places(group, addresses, self.bytes * self.from.len(), true)?;
        for (number, from) in self.from.iter().enumerate() {
            // SAFETY: `places` checked that the bytes of all elements are there, and may be written.
            unsafe { machine.scatter(group, (&places, addresses), (number * self.bytes, self.bytes), from)? };
        }
        Ok(())
    }

    /// Tells the checks of neighbouring elements.
    fn watch(&self, machine: &mut Machine<'_>, group: Group, places: &Lanes, from: &[Operand]) -> Result<()> {
        if machine.checks.is_none() {
            return Ok(());
        }
        let mut content: SmallVec<[Lanes; 4]> = SmallVec::new();
        for from in from {
            content.push(if self.bytes == 16 { [0; LANES] } else { machine.lanes(group, from)? });
            if self.bytes == 16 {
                content.push([0; LANES]);
                for thread in group.threads() {
                    let value = machine.get(thread, from)?;
                    let [low, high] = [value as u64, (value >> 64) as u64];
                    let words = content.iter_mut().rev().take(2).zip([high, low]);
                    words.for_each(|(word, value)| word[thread.lane] = value);
                }
            }
        }
        let size = self.bytes.min(8);
        let is_there = |lane: usize, place: &[u8]| {
            let words = place.chunks(size).zip(&content);
            words.into_iter().all(|(there, word)| *there == word[lane].to_le_bytes()[..size])
        };
        let is_same = |one: usize, other: usize| content.iter().all(|word| word[one] == word[other]);
        let written = Written { is_there: &is_there, is_same: &is_same };
        machine.watch_store(group, places, self.bytes * from.len(), self.how, Some(written))
    }

    fn put(&self, machine: &mut Machine<'_>, group: Group, places: &Lanes, from: &Operand) -> Result<()> {
        if self.bytes == 16 {
            for thread in group.threads() {
                let value = machine.get(thread, from)?;
                machine.settle(thread, places[thread.lane], self.bytes)?;
                let written = machine.write(places[thread.lane], &value.to_le_bytes());
                written.map_err(|stop| stop.by(thread.lane))?;
                machine.wrote(thread, places[thread.lane], self.bytes, value);
            }
            return Ok(());
        }
        if machine.stores_at_once() {
            let there = machine.places(group, places, self.bytes, true)?;
            // SAFETY: `places` checked that the bytes are there, and may be written.
            return unsafe { machine.scatter(group, (&there, places), (0, self.bytes), from) };
        }
        let values = machine.lanes(group, from)?;
        for thread in group.threads() {
            let lane = thread.lane;
            let stored = machine.store(thread, places[lane], self.bytes, values[lane], self.how);
            stored.map_err(|stop| stop.by(lane))?;
        }
        Ok(())
    }
}
