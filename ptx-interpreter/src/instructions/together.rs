//! What the threads of a warp do together: whoever comes first waits for the others of the mask. `bar.warp.sync`.

use crate::group::{Group, Thread};
use crate::lanes::{Lanes, lanes_of};
use crate::machine::{Machine, Step, Warp};
use crate::operand::Operand;
use crate::stop::{Result, wrong};

/// What is done when all are here.
pub(crate) trait Together: Send + Sync {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], mask: u32) -> Result<()>;
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

impl Together for Meet {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        machine.watch_warp_barrier(all);
        Ok(())
    }
}

impl<T: Together> Step for Collective<T> {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let masks = machine.lanes(group, &self.mask)?;
        let mut rest = group.mask;
        while rest != 0 {
            let mask = masks[rest.trailing_zeros() as usize] as u32;
            let own = lanes_of(rest).filter(|lane| masks[*lane] as u32 == mask).fold(0, |own, lane| own | 1 << lane);
            rest &= !own;
            if let Some(lane) = lanes_of(own & !mask).next() {
                return Err(wrong("the mask lacks the thread itself").by(lane));
            }
            let Some(all) = here(machine, group, own, mask) else {
                let warp = machine.warp_mut(group.warp);
                warp.waiting |= own;
                warp.running &= !own;
                continue;
            };
            self.what.run(machine, &all, mask)?;
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
}

impl Machine<'_> {
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

/// The threads of a mask, if all that have not ended are at the same instruction.
fn here(machine: &Machine<'_>, group: Group, own: u32, mask: u32) -> Option<Vec<Thread>> {
    let warp = machine.warp(group.warp);
    let (code, next) = (machine.frame(group).code, warp.at[own.trailing_zeros() as usize].1);
    let mut all = Vec::with_capacity(32);
    for lane in lanes_of(mask & warp.live) {
        let (frame, at) = warp.at[lane];
        let came = own >> lane & 1 == 1
            || warp.waiting >> lane & 1 == 1 && at == next && std::ptr::eq(warp.frames[frame as usize].code, code);
        if !came {
            return None;
        }
        all.push(Thread { warp: group.warp, frame: frame as usize, lane });
    }
    Some(all)
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
