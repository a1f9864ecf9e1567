//! Stores that others see later, and loads that are performed later, where a launch asks for that: what shows that a release, a
//! fence or a proxy fence is missing.
//!
//! A thread goes on after a store before anybody sees it, and after a load until it needs the value. Stores and loads of different
//! places happen in any order then, until something orders them.

use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes};
use crate::machine::launch::Delays;
use crate::machine::stop::Result;
use crate::machine::{Action, Late, Line, Machine};
use crate::memory::spaces::{Owner, is_shared, owner};
use crate::ptx::access::{Fence, How, Memory};
use crate::ptx::operand::{Operand, Register};
use crate::ptx::text::words;
use crate::weak::delayed::{LateRead, Load, Store};

/// How many lengths of waits there are: 1, 2, 4, … rounds. Short waits are as frequent as long ones.
const DELAYS: u64 = 7;

/// What an instruction asks of the accesses before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Orders {
    Nothing,
    /// They come before what comes after it.
    Before,
    /// The same, of an arrival at a barrier in memory.
    Arrival,
    /// They are over, on a broken machine too.
    Everything,
}

impl Orders {
    fn of(line: &Line, text: &str) -> Orders {
        let mut words = text.split_whitespace().filter(|word| !word.starts_with('@'));
        let words: Vec<&str> = words.next().unwrap_or_default().trim_end_matches(';').split('.').collect();
        let has = |all: &[&str]| all.iter().any(|word| words.contains(word));
        match words[0] {
            // A turn may end after one, but it waits for nobody.
            "fence" | "membar" => Orders::Before,
            "bar" | "barrier" if !has(&["cluster"]) => Orders::Before,
            _ if matches!(line.action, Action::Control(_)) => Orders::Everything,
            "ld" | "ldu" => Orders::Nothing,
            "st" | "red" if has(&["async", "bulk"]) => Orders::Everything,
            "st" | "atom" | "red" if has(&["release", "acq_rel"]) => Orders::Before,
            "st" | "atom" | "red" => Orders::Nothing,
            "mbarrier" if has(&["relaxed", "test_wait", "try_wait"]) => Orders::Nothing,
            "mbarrier" => Orders::Arrival,
            _ if line.is_seen => Orders::Everything,
            _ => Orders::Nothing,
        }
    }
}

fn is_atomic_that_waits(opcode: &str) -> bool {
    let has = |all: &[&str]| words(opcode).any(|word| all.contains(&word));
    let is_other = has(&["async", "b128"]) || has(&["cas"]) && has(&["release", "acq_rel"]);
    (opcode.starts_with("atom.") || opcode.starts_with("red.")) && !is_other
}

impl<'a> Machine<'a> {
    #[inline]
    pub(crate) fn has_delays(&self) -> bool {
        self.launch.delays != Delays::None
    }

    fn delays_stores(&self) -> bool {
        !matches!(self.launch.delays, Delays::None | Delays::Loads)
    }

    pub(crate) fn is_global(&self, address: u64) -> bool {
        matches!(owner(address, self.cluster).0, Owner::Outside | Owner::Module | Owner::Heap)
    }

    fn later(&mut self) -> u64 {
        let longest = 1 << self.weak.draw(DELAYS);
        self.round + 1 + self.weak.draw(longest)
    }

    /// Whether a group can execute an instruction now, where there are delays. It cannot if a load before it has to be performed first.
    #[cold]
    pub(crate) fn may_go_on(&mut self, group: Group, line: &Line) -> Result<bool> {
        if self.delayed.loads.is_empty() && self.delayed.stores.is_empty() {
            return Ok(true);
        }
        if self.is_held(group, line) {
            return Ok(false);
        }
        let orders = Orders::of(line, &self.program.sites[line.site as usize].text);
        let broken = self.launch.delays == Delays::StoresForgotten;
        if orders == Orders::Everything || orders != Orders::Nothing && !broken {
            self.show(|store| store.is_of(group))?;
        }
        if orders == Orders::Before {
            self.comes_after_loads(group, true)?;
        }
        Ok(true)
    }

    /// Whether a load has to be performed before a group can execute an instruction.
    pub(crate) fn is_held(&self, group: Group, line: &Line) -> bool {
        let own = |load: &&Load<Late<'_>>| load.group.warp == group.warp && load.group.mask & group.mask != 0;
        let mut own = self.delayed.loads.iter().filter(own).peekable();
        if own.peek().is_none() {
            return false;
        }
        let text = &self.program.sites[line.site as usize].text;
        let waits = |load: &Load<Late<'_>>| match Orders::of(line, text) {
            Orders::Nothing => false,
            Orders::Before => self.launch.delays != Delays::LoadsForgotten && !load.may_be_late,
            Orders::Arrival => self.launch.delays != Delays::LoadsForgotten,
            Orders::Everything => true,
        };
        own.any(|load| load.rests || waits(load) || line.uses(&load.to))
    }

    /// Whether loads of a group become late by an instruction.
    pub(crate) fn makes_late(&self, group: Group, line: &Line) -> bool {
        let text = &self.program.sites[line.site as usize].text;
        let is_own = |load: &Load<Late<'_>>| load.group.warp == group.warp && load.group.mask & group.mask != 0;
        self.delayed.loads.iter().any(is_own) && Orders::of(line, text) == Orders::Before
    }

    /// The loads of one thread each that may be performed now: their numbers, threads and instructions.
    pub(crate) fn waiting_loads(&self) -> Vec<(u64, Thread, u32)> {
        let loads = &self.delayed.loads;
        let is_next = |(number, load): &(usize, &Load<Late<'_>>)| {
            let lane = load.group.mask.trailing_zeros() as usize;
            let (thread, address) = (load.group.thread(lane), load.addresses[lane]);
            !loads[..*number].iter().any(|other| other.is_before(load.how) && other.meets(thread, address, load.bytes))
        };
        let one = |(_, load): (usize, &Load<Late<'_>>)| {
            (load.number, load.group.thread(load.group.mask.trailing_zeros() as usize), load.site)
        };
        loads.iter().enumerate().filter(is_next).map(one).collect()
    }

    /// Whether an instruction is a load that waits: nobody sees when it is executed, but when it is performed.
    pub(crate) fn is_late_load(&self, line: &Line) -> bool {
        let text = &self.program.sites[line.site as usize].text;
        let is_there = |word: &str| word.contains(".global") || word.contains(".shared");
        let is_load = |word: &str| word.starts_with("ld.") && !word.contains(".nc.");
        let waits =
            |word: &str| is_there(word) && (is_load(word) || self.remembers_values() && is_atomic_that_waits(word));
        self.has_delays() && text.split_whitespace().any(waits)
    }

    /// Whether a load can wait. The threads of the group find what they stored themselves.
    #[inline]
    pub(crate) fn may_delay(&mut self, group: Group, addresses: &Lanes, bytes: usize, how: How) -> Result<bool> {
        if self.has_delays() && !how.constant { self.delays_load(group, addresses, bytes, how) } else { Ok(false) }
    }

    #[cold]
    fn delays_load(&mut self, group: Group, addresses: &Lanes, bytes: usize, how: How) -> Result<bool> {
        self.show(|store| store.is_of(group) && store.meets(store.thread, addresses[store.thread.lane], bytes))?;
        let is_weak = self.launch.delays == Delays::Loads;
        let is_held = how.acquires && !is_weak && self.launch.delays != Delays::LoadsForgotten;
        let may_wait = !is_held && (!is_weak || self.may_rest());
        let is_there = |address: u64| self.is_global(address) || is_weak && is_shared(address);
        let waits = may_wait && group.threads().all(|thread| is_there(addresses[thread.lane]));
        if is_held || is_weak && !waits {
            self.perform_loads_before(group, addresses, bytes)?;
        }
        Ok(waits)
    }

    /// Lets a load wait.
    pub(crate) fn delay_load(
        &mut self,
        group: Group,
        addresses: &Lanes,
        (bytes, elements): (usize, usize),
        how: How,
        event: Late<'a>,
    ) {
        let mut due = self.later();
        if self.launch.delays != Delays::LoadsForgotten {
            // What a strong load has observed comes before what follows it in its thread.
            let before = self.delayed.loads.iter().filter(|load| {
                load.is_before(how) && group.threads().any(|thread| load.meets(thread, addresses[thread.lane], bytes))
            });
            due = before.map(|load| load.due).max().map_or(due, |before| due.max(before));
        }
        let (site, addresses) = (self.site, *addresses);
        let to = self.written_places(group);
        let may_be_late = self.launch.delays == Delays::Loads && elements == 1 && bytes <= 8;
        let rests = std::mem::take(&mut self.weak.rests);
        if !rests {
            self.note_wait(group, &addresses, bytes, how);
        }
        self.delayed.count += 1;
        let number = self.delayed.count;
        let load = Load {
            number,
            due,
            group,
            addresses,
            bytes,
            how,
            may_be_late,
            rests,
            compare: None,
            late: Vec::new(),
            site,
            to,
            event,
        };
        self.delayed.loads.push(load);
    }

    /// The places of the registers that the instruction writes that a group executes.
    fn written_places(&self, group: Group) -> Vec<usize> {
        let frame = self.frame(group);
        let first = frame.code.lines[0].site;
        let line = &frame.code.lines[(self.site - frame.sites - first) as usize];
        let to = line.operands.first().filter(|to| !matches!(to, Operand::Address(..)));
        to.into_iter().flat_map(Operand::registers).flat_map(Register::places).collect()
    }

    /// Whether an atomic can wait.
    #[inline]
    pub(crate) fn may_delay_atomic(&mut self, address: u64, bytes: usize) -> bool {
        let may_wait = self.remembers_values() && bytes <= 8;
        may_wait && (self.is_global(address) || is_shared(address)) && self.may_rest()
    }

    /// Lets an atomic wait. One that compares may be late: as a read that finds another value.
    pub(crate) fn delay_atomic(
        &mut self,
        thread: Thread,
        (address, bytes): (u64, usize),
        how: How,
        compare: Option<u64>,
        event: Late<'a>,
    ) {
        let group = thread.alone();
        self.delay_load(group, &[address; LANES], (bytes, 1), how, event);
        if let Some(load) = self.delayed.loads.last_mut() {
            (load.may_be_late, load.compare) = (compare.is_some(), compare);
        }
    }

    /// Lets the read of an exchange wait, which has what it acquires already.
    pub(crate) fn delay_exchange(
        &mut self,
        thread: Thread,
        (address, bytes): (u64, usize),
        how: How,
        late: LateRead,
        event: Late<'a>,
    ) {
        let group = thread.alone();
        let how = How { acquires: false, writes: false, ..how };
        self.delay_load(group, &[address; LANES], (bytes, 1), how, event);
        if let Some(load) = self.delayed.loads.last_mut() {
            load.late.push((thread.lane, late));
        }
    }

    /// Whether memory holds at once what is stored, and nothing else does.
    pub(crate) fn stores_at_once(&self) -> bool {
        !self.has_delays() && self.l1.is_empty()
    }

    /// A thread stores a number of at most eight bytes.
    #[inline]
    pub(crate) fn store(&mut self, thread: Thread, address: u64, bytes: usize, value: u64, how: How) -> Result<()> {
        if !self.lands(thread, address, bytes, value) {
            return Ok(());
        }
        if self.delays_stores() && self.is_global(address) {
            if !how.releases || self.launch.delays == Delays::StoresForgotten {
                self.there(address, bytes, true)?;
                let own = self.delayed.stores.iter().filter(|store| store.meets(thread, address, bytes));
                let after = own.map(|store| store.due).max().unwrap_or_default();
                let due = self.later().max(after);
                self.delayed.stores.push(Store { due, thread, address, bytes, value });
                return Ok(());
            }
            self.show(|store| store.meets(thread, address, bytes))?;
        }
        self.put_number(thread, address, bytes, value)
    }

    fn put_number(&mut self, thread: Thread, address: u64, bytes: usize, value: u64) -> Result<()> {
        if self.delays_stores() && self.is_global(address) {
            for word in (address & !3..address + bytes as u64).step_by(4) {
                let old = self.read_number(word, 4)? as u32;
                self.delayed.before.insert(word, old);
            }
        }
        self.write_number(address, bytes, value)?;
        self.wrote(thread, address, bytes, value.into());
        Ok(())
    }

    /// A thread accesses a place: what it did there before is over.
    #[inline]
    pub(crate) fn settle(&mut self, thread: Thread, address: u64, bytes: usize) -> Result<()> {
        if !self.has_delays() {
            return Ok(());
        }
        self.perform_loads_of(thread, address, bytes)?;
        self.show(|store| store.meets(thread, address, bytes))
    }

    /// Memory goes away: whatever waits is done before.
    pub(crate) fn settle_all(&mut self) -> Result<()> {
        if !self.has_delays() {
            return Ok(());
        }
        self.perform_loads(|_| true)?;
        self.show(|_| true)
    }

    /// Stores are seen.
    fn show(&mut self, which: impl Fn(&Store) -> bool) -> Result<()> {
        if !self.delayed.stores.iter().any(&which) {
            return Ok(());
        }
        for store in self.delayed.stores.extract_if(.., |store| which(store)).collect::<Vec<_>>() {
            self.put_number(store.thread, store.address, store.bytes, store.value)?;
        }
        Ok(())
    }

    /// The threads of a group store: their loads of the same place come first.
    #[inline]
    pub(crate) fn perform_loads_before(&mut self, group: Group, addresses: &Lanes, bytes: usize) -> Result<()> {
        if !self.has_delays() {
            return Ok(());
        }
        group.threads().try_for_each(|thread| self.perform_loads_of(thread, addresses[thread.lane], bytes))
    }

    /// Where it may, a load is performed after a later store of its own thread to its place. An atomic before it comes first.
    fn perform_loads_of(&mut self, thread: Thread, address: u64, bytes: usize) -> Result<()> {
        let last = self.weak.performed.unwrap_or(u64::MAX);
        let comes_before =
            |load: &Load<Late<'_>>| load.late.is_empty() && load.number < last && load.meets(thread, address, bytes);
        if self.launch.delays == Delays::Loads {
            // What they have to have acquired is acquired before they are late.
            self.comes_after_loads_of(thread)?;
            while let Some(load) = self.delayed.loads.iter().find(|load| comes_before(load)) {
                self.becomes_late(load.number)?;
            }
        }
        self.perform_loads(comes_before)
    }

    fn perform_loads(&mut self, which: impl Fn(&Load<Late<'_>>) -> bool) -> Result<()> {
        loop {
            let due = self.delayed.loads.iter().filter(|load| which(load));
            let Some(load) = due.min_by_key(|load| (load.due, load.number)) else { return Ok(()) };
            self.perform_load(load.number)?;
        }
    }

    pub(crate) fn perform_load(&mut self, number: u64) -> Result<()> {
        let Some(place) = self.delayed.loads.iter().position(|load| load.number == number) else { return Ok(()) };
        let mut load = self.delayed.loads.remove(place);
        let before = (self.site, self.current, self.weak.performed.replace(number));
        (self.site, self.current) = (load.site, load.group);
        let outer = std::mem::replace(&mut self.weak.late, std::mem::take(&mut load.late));
        let done = self.apart_from_what_is_read(|machine| (load.event)(machine));
        load.late = std::mem::replace(&mut self.weak.late, outer);
        self.weak.performed = before.2;
        if done.is_err() {
            let place = self.delayed.loads.partition_point(|other| other.number < number);
            self.delayed.loads.insert(place, load);
            return done;
        }
        (self.site, self.current) = (before.0, before.1);
        Ok(())
    }

    /// What has waited long enough happens.
    pub(crate) fn happen_late(&mut self, until: u64) -> Result<()> {
        self.perform_loads(|load| load.due <= until)?;
        self.show(|store| store.due <= until)
    }

    /// A thread executes a fence between proxies: a copy finds what was stored before.
    pub(crate) fn fence_proxies(&mut self, fence: Fence) {
        if matches!(fence, Fence::Async(None | Some(Memory::Global))) && self.launch.delays != Delays::FencesForgotten {
            self.delayed.before.clear();
        }
    }

    /// What a copy by the async proxy reads.
    pub(crate) fn read_by_proxy(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut content = self.read(address, bytes)?;
        for (number, word) in content.chunks_exact_mut(4).enumerate() {
            let old = self.delayed.before.get(&(address + 4 * number as u64)).copied();
            if let Some(old) = old.filter(|_| self.draw(2) == 0) {
                word.copy_from_slice(&old.to_le_bytes());
            }
        }
        Ok(content)
    }
}
