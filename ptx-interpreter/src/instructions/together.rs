//! What the threads of a warp do together: whoever comes first waits for the others of the mask. `bar.warp.sync`.

use crate::machine::exchange::Exchange;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes, lanes_of};
use crate::machine::stop::{Result, wrong};
use crate::machine::{Action, Machine, Step, Warp};
use crate::ptx::operand::Operand;

/// What is done when all are here.
pub(crate) trait Together: Send + Sync {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], mask: u32) -> Result<()>;

    /// The same, if all are in one call of a function.
    fn run_in(&self, machine: &mut Machine<'_>, group: Group, mask: u32) -> Result<()> {
        let all: Vec<Thread> = group.threads().collect();
        self.run(machine, &all, mask)
    }

    /// It as an exchange, for which threads may be at different instructions.
    fn as_exchange(&self) -> Option<&dyn Exchange> {
        None
    }
}

pub(crate) struct Collective<T> {
    pub(crate) mask: Operand,
    pub(crate) what: T,
}

/// `bar.warp.sync`
struct Meet;

pub(crate) fn decode(operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    collective(operands.into_iter().next()?, Meet)
}

pub(crate) fn collective<T: Together + 'static>(mask: Operand, what: T) -> Option<Box<dyn Step>> {
    Some(Box::new(Collective { mask, what }))
}

impl Exchange for Meet {
    fn reads(&self) -> [Option<&Operand>; 3] {
        [None; 3]
    }

    fn writes(&self) -> [Option<&Operand>; 2] {
        [None; 2]
    }

    fn exchange(&self, _: &[Lanes; 3], _: u32, _: u32) -> [Lanes; 2] {
        [[0; LANES]; 2]
    }

    fn orders(&self) -> bool {
        true
    }
}

impl<T: Exchange> Together for T {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], mask: u32) -> Result<()> {
        match group_of(all) {
            Some(group) => self.run_in(machine, group, mask),
            None => apart(machine, all, mask),
        }
    }

    fn run_in(&self, machine: &mut Machine<'_>, group: Group, mask: u32) -> Result<()> {
        let mut given = [[0; LANES]; 3];
        for (given, from) in given.iter_mut().zip(self.reads()) {
            if let Some(from) = from {
                *given = machine.lanes(group, from)?;
            }
        }
        let results = self.exchange(&given, group.mask, mask);
        for (results, to) in results.iter().zip(self.writes()) {
            if let Some(to) = to {
                machine.set_operand(group, to, results)?;
            }
        }
        if machine.checks.is_none() {
            return Ok(());
        }
        let all: Vec<Thread> = group.threads().collect();
        // A whole warp whose values are all defined gives nothing else.
        if all.len() < LANES || machine.warp(group.warp).has_no_value_in_some() {
            let each: Vec<(Thread, &dyn Exchange)> = all.iter().map(|thread| (*thread, self as _)).collect();
            machine.watch_exchange(&each, self.sources(&given), mask);
        }
        if self.orders() {
            machine.watch_warp_barrier(&all);
        }
        Ok(())
    }

    fn as_exchange(&self) -> Option<&dyn Exchange> {
        Some(self)
    }
}

impl<T: Together> Step for Collective<T> {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let masks = machine.lanes(group, &self.mask)?;
        let mut rest = group.mask;
        while rest != 0 {
            let mask = masks[rest.trailing_zeros() as usize] as u32;
            let own = rest & equal(&masks, mask);
            rest &= !own;
            if let Some(lane) = lanes_of(own & !mask).next() {
                return Err(wrong("the mask lacks the thread itself").by(lane));
            }
            if mask & machine.warp(group.warp).live == own {
                self.what.run_in(machine, Group { mask: own, ..group }, mask)?;
            } else {
                let Some((all, is_apart)) = here(machine, group, own, mask) else {
                    let warp = machine.warp_mut(group.warp);
                    warp.waiting |= own;
                    warp.running &= !own;
                    continue;
                };
                match is_apart {
                    false => self.what.run(machine, &all, mask)?,
                    true => apart(machine, &all, mask)?,
                }
            }
            let warp = machine.warp_mut(group.warp);
            if warp.is_blocked {
                warp.waiting |= mask & warp.live;
                warp.running &= !mask;
                continue;
            }
            warp.waiting &= !mask;
            warp.running |= mask & warp.live;
        }
        Ok(())
    }

    fn exchange(&self) -> Option<(&Operand, &dyn Exchange)> {
        Some((&self.mask, self.what.as_exchange()?))
    }
}

impl Machine<'_> {
    /// Whether two threads that wait have come to exchanges of the same words and mask, wherever these are.
    pub(crate) fn exchange_alike(&self, one: Thread, other: Thread) -> bool {
        let of = |thread| {
            let (words, mask, _) = exchange_of(self, thread)?;
            Some((words, self.get(thread, mask).ok()? as u32))
        };
        of(one).is_some_and(|own| of(other) == Some(own))
    }

    /// Warps that wait for something of their block look again whether enough of it is free.
    pub(crate) fn wake_blocked(&mut self, block: usize) {
        let own = block * self.warps_of_block..(block + 1) * self.warps_of_block;
        self.warps[own].iter_mut().flatten().filter(|warp| warp.is_blocked).for_each(|warp| warp.look_again());
    }
}

impl Warp<'_> {
    /// Those who wait for others of the warp come to their instruction once more.
    pub(crate) fn look_again(&mut self) {
        lanes_of(self.waiting).for_each(|lane| self.at[lane].1 -= 1);
        self.running |= self.waiting;
        self.waiting = 0;
    }
}

/// The lanes that have a mask.
fn equal(masks: &Lanes, mask: u32) -> u32 {
    (0..LANES).fold(0, |equal, lane| equal | u32::from(masks[lane] as u32 == mask) << lane)
}

/// The threads of a mask, if all that have not ended have come, and whether they are at different instructions.
fn here(machine: &Machine<'_>, group: Group, own: u32, mask: u32) -> Option<(Vec<Thread>, bool)> {
    let warp = machine.warp(group.warp);
    let (code, first) = (machine.frame(group).code, own.trailing_zeros() as usize);
    let next = warp.at[first].1;
    let (mut all, mut is_apart) = (Vec::with_capacity(LANES), false);
    for lane in lanes_of(mask & warp.live) {
        let (frame, at) = warp.at[lane];
        let thread = Thread { warp: group.warp, frame: frame as usize, lane };
        if own >> lane & 1 == 0 {
            if warp.waiting >> lane & 1 == 0 {
                return None;
            }
            if at != next || !std::ptr::eq(warp.frames[frame as usize].code, code) {
                is_apart = true;
                if !machine.exchange_alike(group.thread(first), thread) {
                    return None;
                }
            }
        }
        all.push(thread);
    }
    Some((all, is_apart))
}

/// The exchange that a thread has come to: its words, its mask, and what it does.
fn exchange_of<'a>(machine: &Machine<'a>, thread: Thread) -> Option<(&'a str, &'a Operand, &'a dyn Exchange)> {
    let warp = machine.warp(thread.warp);
    let line = warp.frames[thread.frame].code.lines.get((warp.at[thread.lane].1 as usize).checked_sub(1)?)?;
    let Action::Control(step) = &line.action else { return None };
    let (mask, what) = step.exchange()?;
    let words =
        machine.program.sites[line.site as usize].text.split_whitespace().find(|word| !word.starts_with('@'))?;
    Some((words, mask, what))
}

/// Threads exchange something, each by its own instruction.
fn apart(machine: &mut Machine<'_>, all: &[Thread], mask: u32) -> Result<()> {
    let own: Vec<_> = all.iter().filter_map(|thread| Some((*thread, exchange_of(machine, *thread)?.2))).collect();
    let Some((_, first)) = own.first() else { return Ok(()) };
    let mut given = [[0; LANES]; 3];
    for (thread, what) in &own {
        for (given, from) in given.iter_mut().zip(what.reads()) {
            given[thread.lane] = from.map_or(Ok(0), |from| machine.get(*thread, from))? as u64;
        }
    }
    let results = first.exchange(&given, mask_of(all), mask);
    for (thread, what) in &own {
        for (results, to) in results.iter().zip(what.writes()) {
            to.map_or(Ok(()), |to| machine.set(*thread, to, results[thread.lane].into()))?;
        }
    }
    machine.watch_exchange(&own, first.sources(&given), mask);
    if first.orders() {
        machine.watch_warp_barrier(all);
    }
    Ok(())
}

/// The value of an operand, which all threads of the warp have to agree on.
pub(crate) fn agreed(machine: &Machine<'_>, all: &[Thread], operand: &Operand) -> Result<u32> {
    if all.len() != 32 {
        return Err(wrong("lanes of the warp have ended: all of it execute the instruction together"));
    }
    let value = machine.get(all[0], operand)? as u32;
    for thread in all {
        if machine.get(*thread, operand)? as u32 != value {
            return Err(wrong("the lanes of the warp have different operands"));
        }
    }
    Ok(value)
}

/// The value of an operand in each of the threads; of other lanes it is any.
pub(crate) fn values(machine: &Machine<'_>, all: &[Thread], operand: &Operand) -> Result<Lanes> {
    if let Some(group) = group_of(all) {
        return machine.lanes(group, operand);
    }
    let mut values = [0; 32];
    for thread in all {
        values[thread.lane] = machine.get(*thread, operand)? as u64;
    }
    Ok(values)
}

/// The registers of each thread.
pub(crate) fn registers(machine: &Machine<'_>, all: &[Thread], list: &[Operand]) -> Result<Vec<Vec<u64>>> {
    let of_lane = |thread: &Thread| list.iter().map(|from| Ok(machine.get(*thread, from)? as u64)).collect();
    all.iter().map(of_lane).collect()
}

/// Each of the threads gets its result.
pub(crate) fn give(machine: &mut Machine<'_>, all: &[Thread], to: &Operand, results: &Lanes) -> Result<()> {
    match group_of(all) {
        Some(group) => machine.set_operand(group, to, results),
        None => all.iter().try_for_each(|thread| machine.set(*thread, to, results[thread.lane].into())),
    }
}

/// The threads as a group, if they are in the same call.
fn group_of(all: &[Thread]) -> Option<Group> {
    let Thread { warp, frame, .. } = *all.first()?;
    all.iter().all(|thread| thread.frame == frame).then(|| Group { warp, frame, mask: mask_of(all) })
}

/// A set of threads, as a mask.
pub(crate) fn mask_of<'t>(threads: impl IntoIterator<Item = &'t Thread>) -> u32 {
    threads.into_iter().fold(0, |mask, thread| mask | 1 << thread.lane)
}
