//! `cp.async`, its groups, and its arrival at a barrier.

use ptx_intrinsics::mbarrier::mbarrier_arrive;

use super::mbarrier::{Takes, on_barrier};
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::LANES;
use crate::machine::stop::{Result, Why, missing, stop};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::memory::begun::Copy;
use crate::ptx::access::Engine;
use crate::ptx::operand::{Operand, Space};

struct Begin {
    operands: Vec<Operand>,
    /// Whether 4 and 8 bytes are allowed.
    through_l1: bool,
    hinted: bool,
}

/// What a thread copies, and whether it reads something.
struct Began {
    to: u64,
    from: u64,
    size: usize,
    reads: bool,
}

struct Commit;

/// How many groups may be left, or none and what is in no group.
struct Wait(Option<Operand>);

struct ArriveAt {
    place: Operand,
    counts: bool,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let mut own = operands.iter().cloned();
    Some(match words[1..] {
        ["async", "commit_group"] => Box::new(Commit),
        ["async", "wait_group"] => Box::new(Wait(Some(own.next()?))),
        ["async", "wait_all"] => Box::new(Wait(None)),
        ["async", "mbarrier", "arrive", ..] => {
            Box::new(ArriveAt { place: own.next()?, counts: words.contains(&"noinc") })
        }
        ["async", path @ ("ca" | "cg"), ..] => {
            let hinted = words.contains(&"L2::cache_hint");
            Box::new(Begin { operands, through_l1: path == "ca", hinted })
        }
        _ => return None,
    })
}

impl Step for Begin {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let ([mut to, mut from], mut reads, mut size) = ([[0; LANES]; 2], 0, 0);
        for thread in group.threads() {
            let own = self.one(machine, thread).map_err(|stop| stop.by(thread.lane))?;
            (to[thread.lane], from[thread.lane], size) = (own.to, own.from, own.size);
            reads |= u32::from(own.reads) << thread.lane;
        }
        machine.count_access(reads, &from, size);
        machine.count_access(group.mask, &to, size);
        Ok(())
    }
}

impl Begin {
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<Began> {
        let place = |at: usize| self.operands.get(at).ok_or_else(missing);
        let to = machine.address(thread, Space::Shared, place(0)?)?;
        let from = machine.address(thread, Space::Global, place(1)?)?;
        let size = machine.number(thread, &self.operands, 2)? as usize;
        if !(matches!(size, 4 | 8 | 16) && (size == 16 || self.through_l1)) {
            return stop(Why::Wrong, format!("{size} bytes cannot be copied"));
        }
        aligned(to, size)?;
        let more = self.operands.len() - 3 - usize::from(self.hinted);
        // What is ignored is a predicate, and else there is a number of bytes.
        let read = match self.operands.get(3) {
            Some(ignore) if more == 1 && ignore.is_predicate() => size * usize::from(machine.get(thread, ignore)? == 0),
            Some(_) if more == 1 => machine.number(thread, &self.operands, 3)? as usize,
            _ => size,
        };
        let copy = Copy { read: read.min(size), ..Copy::plain(to, from, size) };
        if read > 0 {
            aligned(from, size)?;
            machine.there(from, copy.read, false)?;
        }
        machine.there(to, size, true)?;
        machine.watch_copy(thread, &copy, Engine::Small)?;
        let began = Began { to, from, size, reads: read > 0 };
        machine.copies_of.entry(machine.id(thread)).or_default().small.open.push(copy);
        Ok(began)
    }
}

impl Step for Commit {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            machine.copies_of.entry(machine.id(thread)).or_default().small.commit();
        }
        Ok(())
    }
}

impl Step for Wait {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            match &self.0 {
                None => finish(machine, thread)?,
                Some(left) => {
                    let left = machine.get(thread, left)? as usize;
                    wait(machine, thread, left)?;
                }
            }
        }
        Ok(())
    }
}

fn wait(machine: &mut Machine<'_>, thread: Thread, left: usize) -> Result<()> {
    let begun = machine.copies_of.entry(machine.id(thread)).or_default();
    let due = begun.small.due(left);
    let done = begun.small.done;
    machine.move_bytes(&due, Machine::read)?;
    machine.watch_copied(thread, Engine::Small, done);
    Ok(())
}

/// Does all that is begun, of a group or not.
fn finish(machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
    machine.copies_of.entry(machine.id(thread)).or_default().small.commit();
    wait(machine, thread, 0)
}

impl Step for ArriveAt {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            let begun = machine.copies_of.entry(machine.id(thread)).or_default();
            begun.small.commit();
            let due = begun.small.due(0);
            let done = begun.small.done;
            machine.move_bytes(&due, Machine::read)?;
            let place = machine.address(thread, Space::Shared, &self.place)?;
            machine.watch_copied_arrival(thread, place, done);
            // Without `.noinc` one more arrival is expected, and it is this one.
            if self.counts {
                // SAFETY: the barrier is a word of the interpreter's own.
                on_barrier(machine, place, Takes::ARRIVAL, |bar| unsafe { mbarrier_arrive(bar) })?;
            }
        }
        Ok(())
    }
}
