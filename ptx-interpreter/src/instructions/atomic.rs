//! `atom` and `red`: what was there, and after it what is there now, by the crate's own meaning.

use std::sync::OnceLock;

use ptx_intrinsics::grammar::atomic::judge_atomic;

use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes};
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::memory::change::{Change, of_integers};
use crate::memory::near::Places;
use crate::memory::spaces::is_shared;
use crate::memory::{aligned, all_aligned, number_at, put_number_at};
use crate::ptx::access::{How, Scope};
use crate::ptx::operand::{Operand, Space};
use crate::watch::compared::Beside;
use crate::weak::delayed::LateRead;

struct AtomicStep {
    change: Change,
    /// The same of integers, if the host does it at once.
    quick: Option<fn(u64, u64) -> u64>,
    space: Space,
    /// Where the old value goes.
    to: Option<Vec<Operand>>,
    address: Operand,
    /// Each is the lanes of a vector, or one.
    values: Vec<Vec<Operand>>,
    how: How,
    /// A sum of two floats of 16 bits.
    is_packed: bool,
    /// What it writes does not depend on what it reads.
    is_exchange: bool,
    /// It changes one number of four or eight bytes.
    is_narrow: bool,
    /// `ptxas` makes a loop of it, and leaves out what would order that.
    loses_order: bool,
    /// Whether the function does something with what was there, once the checks want to know.
    is_used: OnceLock<bool>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let text = words.join(".");
    let hinted = text.contains("::cache_hint");
    let as_written = judge_atomic(&text, hinted).ok().map(|(atomic, _)| atomic);
    let loses_order = as_written.is_none();
    let atomic = as_written.or_else(|| Some(judge_atomic(&relaxed(words)?, hinted).ok()?.0))?;
    let mut operands = operands.into_iter();
    let to = if words[0] == "atom" { Some(operands.next()?.lanes()) } else { None };
    let address = operands.next()?;
    let mut values: Vec<Vec<Operand>> = operands.map(Operand::lanes).collect();
    if hinted {
        values.pop();
    }
    values.last()?;
    let (bytes, space, how) = (atomic.bytes(), Space::of(words), How::atomic(words));
    let flushes = words.contains(&"add") && words.last() == Some(&"f32") && !words.contains(&"noftz");
    let is_packed = words.contains(&"add") && matches!(words.last(), Some(&("f16x2" | "bf16x2")));
    let is_exchange = words.contains(&"exch");
    let is_narrow = matches!(bytes, 4 | 8) && values.iter().chain(&to).all(|lanes| lanes.len() == 1);
    Some(Box::new(AtomicStep {
        change: Change { atomic, bytes, flushes },
        quick: of_integers(words),
        space,
        to,
        address,
        values,
        how,
        is_packed,
        is_exchange,
        is_narrow,
        loses_order,
        is_used: OnceLock::new(),
    }))
}

/// The same in the block's own shared memory without an order, if it has one. What is right without it alone is a loop, which `ptxas` does
/// not order.
fn relaxed(words: &[&str]) -> Option<String> {
    const ORDERS: [&str; 3] = ["acquire", "release", "acq_rel"];
    let order = *words.iter().find(|word| ORDERS.contains(word))?;
    let is_shared = words.contains(&"shared") || words.contains(&"shared::cta");
    let may_be = is_shared && (words[0] == "atom" || order == "release");
    let unordered = words.iter().map(|word| if *word == order { "relaxed" } else { word });
    may_be.then(|| unordered.collect::<Vec<_>>().join("."))
}

impl Step for AtomicStep {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        if self.values.len() > 1 {
            machine.polls();
        }
        let mut addresses = [0; LANES];
        machine.addresses(group, self.space, &self.address, &mut addresses)?;
        let group = self.others(machine, group, &addresses)?;
        if group.mask == 0 {
            return Ok(());
        }
        if self.loses_order {
            let thread = group.thread(group.mask.trailing_zeros() as usize);
            let address = addresses[thread.lane];
            machine.tell(|checks, machine| checks.loses_order(machine.actor(thread), machine.site, address));
        }
        if let Some(places) = self.places(machine, group, &addresses) {
            self.at_once(machine, group, (&places, &addresses))?;
        } else {
            for thread in group.threads() {
                let address = addresses[thread.lane];
                self.begin(machine, thread, address).map_err(|stop| stop.by(thread.lane))?;
            }
        }
        if let (true, Some(scope)) = (self.how.acquires, self.how.scope) {
            machine.acquired(group.warp, scope);
        }
        Ok(())
    }
}

impl AtomicStep {
    /// In a part of a launch, where nobody uses what an atomic finds in memory outside, that is changed later. Gives the threads that change
    /// something else.
    fn others(&self, machine: &mut Machine<'_>, group: Group, addresses: &Lanes) -> Result<Group> {
        let mut rest = group.mask;
        if machine.part.is_some() && self.how.scope > Some(Scope::Cluster) {
            for thread in group.threads() {
                let changed = self.later(machine, thread, addresses[thread.lane]);
                rest &= !(u32::from(changed.map_err(|stop| stop.by(thread.lane))?) << thread.lane);
            }
        }
        Ok(Group { mask: rest, ..group })
    }

    fn later(&self, machine: &mut Machine<'_>, thread: Thread, address: u64) -> Result<bool> {
        aligned(address, self.change.bytes)?;
        let [value, _] = self.numbers(machine, thread)?;
        let is_later = machine.changes_later(address, self.change, value);
        if is_later {
            self.watch(machine, thread, address, How { is_unused: true, ..self.how })?;
        }
        Ok(is_later)
    }

    /// Where the numbers of all threads are, if memory has the newest values of all, and nothing is wrong with their addresses.
    fn places(&self, machine: &mut Machine<'_>, group: Group, addresses: &Lanes) -> Option<Places> {
        let is_simple = self.is_narrow && machine.stores_at_once() && !machine.remembers_values();
        if !is_simple || all_aligned(group, addresses, self.change.bytes).is_err() {
            return None;
        }
        machine.places(group, addresses, self.change.bytes, true).ok()
    }

    /// The threads of a group change numbers one after the other, and memory has the newest values.
    fn at_once(&self, machine: &mut Machine<'_>, group: Group, (places, addresses): (&Places, &Lanes)) -> Result<()> {
        let bytes = self.change.bytes;
        let value = machine.lanes(group, &self.values[self.values.len() - 1][0])?;
        let compare = if self.values.len() > 1 { Some(machine.lanes(group, &self.values[0][0])?) } else { None };
        let how = self.told(machine);
        // Whether one that compares writes, is only known when it has read.
        let is_change = compare.is_none() && !self.is_exchange && !self.is_packed;
        let is_told = is_change && machine.watch_changes(group, addresses, bytes, How { writes: true, ..how });
        // Nobody has to be told of what each thread does.
        let quick = self.quick.filter(|_| is_told || machine.checks.is_none());
        let own = u64::MAX >> (64 - 8 * bytes);
        let narrow = |number: u64| u128::from(number & own);
        let mut found = [0; LANES];
        for thread in group.threads() {
            let (lane, place) = (thread.lane, places.of(thread.lane, addresses));
            // SAFETY: `places` says that the bytes are there, and may be written.
            let old = unsafe { number_at(place, bytes) };
            let values = (narrow(value[lane]), compare.as_ref().map(|compare| narrow(compare[lane])));
            let new = match quick {
                Some(change) => Some(change(old, value[lane]) & own),
                None if is_told => Some(self.changed(addresses[lane], old.into(), values) as u64),
                None => {
                    let new = self.watched(machine, thread, addresses[lane], (old.into(), how), values);
                    new.map_err(|stop| stop.by(lane))?.map(|new| new as u64)
                }
            };
            // One that changes nothing is no progress for those who wait.
            if let Some(new) = new.filter(|new| *new != old) {
                machine.progress += 1;
                // SAFETY: the same.
                unsafe { put_number_at(place, bytes, new) };
            }
            found[lane] = old;
        }
        let to = self.to.iter().flatten().next();
        to.map_or(Ok(()), |to| machine.set_operand(group, to, &found))
    }

    fn is_used(&self, machine: &Machine<'_>) -> bool {
        *self.is_used.get_or_init(|| self.to.is_some() && machine.program.uses_result_of(machine.site))
    }

    /// What the checks are told of it: also whether nobody uses what it finds.
    fn told(&self, machine: &Machine<'_>) -> How {
        How { is_unused: machine.checks.is_some() && !self.is_used(machine), ..self.how }
    }

    /// The checks are told. Gives what is to be written after what was found: nothing, if it compares and finds something else.
    fn watched(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        address: u64,
        (found, how): (u128, How),
        (value, compare): (u128, Option<u128>),
    ) -> Result<Option<u128>> {
        let writes = compare.is_none_or(|compare| compare == found);
        if machine.checks.is_some() {
            self.tell(machine, thread, address, How { writes, ..how })?;
        }
        Ok(writes.then(|| self.changed(address, found, (value, compare))))
    }

    fn tell(&self, machine: &mut Machine<'_>, thread: Thread, address: u64, how: How) -> Result<()> {
        if self.is_exchange {
            machine.reads_to_registers(|machine| self.watch(machine, thread, address, how))?;
            machine.watch_exchanged(thread, address, self.change.bytes, self.to.iter().flatten().next());
        } else if let Some(beside) = self.beside(machine, thread, address) {
            machine.reads_to_registers(|machine| self.watch(machine, thread, address, how))?;
            let (place, to) = ((address, self.change.bytes), self.to.iter().flatten().next());
            machine.leaves_beside(thread, place, to, (beside, how.writes));
        } else {
            self.watch(machine, thread, address, how)?;
        }
        if self.is_packed {
            machine.tell(|checks, machine| checks.adds_packed(machine.actor(thread), machine.site, address));
        }
        Ok(())
    }

    /// What a compare-and-swap of at most eight bytes leaves as it was, because nobody has written it.
    fn beside(&self, machine: &mut Machine<'_>, thread: Thread, address: u64) -> Option<Beside> {
        let ([compare, value], 0..=8) = (&self.values[..], self.change.bytes) else { return None };
        machine.watch_compared(thread, (address, self.change.bytes), [&compare[0], &value[0]])
    }

    /// What is there after what was found. In shared memory sums know subnormal numbers.
    fn changed(&self, address: u64, found: u128, values: (u128, Option<u128>)) -> u128 {
        Change { flushes: self.change.flushes && !is_shared(address), ..self.change }.changed(found, values)
    }

    fn begin<'a>(&'a self, machine: &mut Machine<'a>, thread: Thread, address: u64) -> Result<()> {
        aligned(address, self.change.bytes)?;
        let values = self.numbers(machine, thread)?;
        let compare = (self.values.len() > 1).then_some(values[0] as u64);
        // One that compares releases only if it writes.
        let may_wait = !self.how.releases || compare.is_none();
        if may_wait && machine.may_delay_atomic(address, self.change.bytes) {
            // Nothing passes one that acquires. It releases what it has acquired, too.
            let early = if self.how.acquires {
                None
            } else {
                machine.releases_early(thread, address, self.change.bytes, self.how)
            };
            let how = How { releases: self.how.releases && early.is_none(), ..self.how };
            let event = Box::new(move |machine: &mut Machine<'a>| {
                machine.in_epoch(thread, early, |machine| self.one(machine, thread, address, (values, how)))
            });
            machine.delay_atomic(thread, (address, self.change.bytes), how, compare, event);
            return Ok(());
        }
        let how = if machine.remembers_values() { self.how } else { self.told(machine) };
        self.one(machine, thread, address, (values, how))
    }

    /// The checks are told. Each element of a vector is changed by an atomic of its own.
    fn watch(&self, machine: &mut Machine<'_>, thread: Thread, address: u64, how: How) -> Result<()> {
        let elements = self.values.last().map_or(1, Vec::len);
        let bytes = self.change.bytes / elements;
        (0..elements).try_for_each(|at| machine.watch_one(thread, address + (at * bytes) as u64, bytes, how))
    }

    /// The numbers that it has beside its address: one, or two if it compares.
    fn numbers(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<[u128; 2]> {
        let mut values = [0; 2];
        for (value, lanes) in values.iter_mut().zip(&self.values) {
            let mut whole = [0; 16];
            for (lane, part) in lanes.iter().zip(whole.chunks_mut(self.change.bytes / lanes.len())) {
                part.copy_from_slice(&machine.get(thread, lane)?.to_le_bytes()[..part.len()]);
            }
            *value = u128::from_le_bytes(whole);
        }
        Ok(values)
    }

    fn one<'a>(
        &'a self,
        machine: &mut Machine<'a>,
        thread: Thread,
        address: u64,
        (values, how): ([u128; 2], How),
    ) -> Result<()> {
        let bytes = self.change.bytes;
        if machine.weak.late.iter().any(|(lane, _)| *lane == thread.lane) {
            return self.read_late(machine, thread, address, How { writes: false, ..how });
        }
        let compare = (self.values.len() > 1).then_some(values[0]);
        let value = values[usize::from(compare.is_some())];
        let mut memory = [0; 16];
        machine.settle(thread, address, bytes)?;
        machine.read_into(address, &mut memory[..bytes])?;
        let mut older = None;
        if machine.remembers_values() {
            older = self.older(machine, thread, address, (memory, compare, how))?;
            memory = older.map_or(memory, |older| u128::from(older).to_le_bytes());
        }
        let late = if self.is_exchange && machine.remembers_values() {
            machine.parts(thread, address, bytes, how, memory)
        } else {
            None
        };
        let found = u128::from_le_bytes(memory);
        if let Some(new) = self.watched(machine, thread, address, (found, how), (value, compare))? {
            // One that changes nothing is no progress for those who wait.
            let is_there = older.is_none() && new == found;
            if machine.lands(thread, address, bytes, new as u64) && !is_there {
                machine.write(address, &new.to_le_bytes()[..bytes])?;
                machine.wrote(thread, address, bytes, new);
            }
        }
        let Some(to) = &self.to else { return Ok(()) };
        if let Some(late) = late {
            self.wait(machine, thread, address, (late, how));
            return Ok(());
        }
        for (lane, part) in to.iter().zip(memory.chunks(bytes / to.len())) {
            let mut whole = [0; 16];
            whole[..part.len()].copy_from_slice(part);
            machine.set(thread, lane, u128::from_le_bytes(whole))?;
        }
        Ok(())
    }
}

impl AtomicStep {
    /// What it reads, if memory holds something else.
    #[cold]
    fn older(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        address: u64,
        (memory, compare, how): ([u8; 16], Option<u128>, How),
    ) -> Result<Option<u64>> {
        let found = |older: Option<u64>| older.map_or(u128::from_le_bytes(memory), u128::from);
        let changes = |older| compare.is_none_or(|compare| compare == found(older));
        machine.choose_way(thread, address, self.change.bytes, how, &changes)
    }

    /// The read of an exchange waits.
    #[cold]
    fn wait<'a>(&'a self, machine: &mut Machine<'a>, thread: Thread, address: u64, (late, how): (LateRead, How)) {
        let read = Box::new(move |machine: &mut Machine<'a>| self.read_late(machine, thread, address, how));
        machine.delay_exchange(thread, (address, self.change.bytes), how, late, read);
    }

    /// Its read is performed late. It writes nothing then, or has written already.
    #[cold]
    fn read_late(&self, machine: &mut Machine<'_>, thread: Thread, address: u64, how: How) -> Result<()> {
        let value = machine.performs_late(thread, address, self.change.bytes, how)?;
        let to = self.to.iter().flatten().next();
        to.map_or(Ok(()), |to| machine.set(thread, to, value.into()))
    }
}
