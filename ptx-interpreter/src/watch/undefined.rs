//! What is done with values that are undefined, since a shuffle read a lane that was not there. It is no mistake to have such a value,
//! nor to compute with it: reductions of a part of a warp do, in lanes whose results nobody uses.

use crate::check::Actor;
use crate::machine::exchange::Exchange;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes, lanes_of};
use crate::machine::stop::Result;
use crate::machine::undefined::Absent;
use crate::machine::{Action, Line, Machine, Warp};
use crate::memory::spaces::{Owner, owner};
use crate::ptx::operand::{Operand, Register, Space};
use crate::ptx::text::{guarded, opcode};

/// Lanes in which an operand is undefined, and why.
type Undefined = Option<(u32, Absent)>;

impl Warp<'_> {
    /// Whether there are registers that have no value yet, or an undefined one.
    #[inline]
    pub(crate) fn has_no_value_in_some(&self) -> bool {
        !self.undefined.is_empty() || !self.tensor.loading.is_empty()
    }
}

impl Machine<'_> {
    /// A group is about to execute an instruction, and some registers of its warp have no value yet, or an undefined one.
    #[cold]
    pub(crate) fn watch_registers(&mut self, group: Group, line: &Line) -> Result<()> {
        self.watch_loading(group);
        if self.warp(group.warp).undefined.is_empty() {
            return Ok(());
        }
        let text = self.program.sites[self.site as usize].text.as_str();
        let words: Vec<&str> = opcode(guarded(text).1).0.split('.').collect();
        let Some(group) = self.watch_guard(group, line) else { return Ok(()) };
        match (&line.action, words[0]) {
            // It is looked at when all its threads have come.
            (_, "shfl") => Ok(()),
            (Action::Straight(step), _) if step.computes() => self.watch_computed(group, &words, &line.operands),
            _ => self.watch_used(group, &words, &line.operands),
        }
    }

    fn undefined(&self, group: Group, register: usize) -> Undefined {
        let own = self.warp(group.warp).undefined.of(group.frame, register);
        own.map(|(mask, from)| (mask & group.mask, from)).filter(|(mask, _)| *mask != 0)
    }

    /// Of an operand the first of its registers that is undefined.
    fn undefined_of(&self, group: Group, operand: &Operand) -> Undefined {
        operand.registers().into_iter().find_map(|register| self.undefined(group, register.at))
    }

    /// Those who execute a line, by its guard. If a branch depends on a value that is undefined, that is a finding; what another
    /// instruction gives its register is undefined.
    fn watch_guard(&mut self, group: Group, line: &Line) -> Option<Group> {
        let Some((register, holds)) = line.guard else { return Some(group) };
        let unsure = self.undefined(group, register);
        let active = group.mask & self.holding(group, register, holds);
        let Some((mask, from)) = unsure else { return (active != 0).then_some(Group { mask: active, ..group }) };
        match &line.action {
            Action::Straight(step) if step.computes() => {
                self.set_undefined(Group { mask, ..group }, line.operands.first(), Some(from));
            }
            _ => self.use_undefined(group, (mask, from), &register_at(register), "decides by it what to do"),
        }
        let mask = active & !mask;
        (mask != 0).then_some(Group { mask, ..group })
    }

    fn watch_computed(&mut self, group: Group, words: &[&str], operands: &[Operand]) -> Result<()> {
        let Some((to, from)) = operands.split_first() else { return Ok(()) };
        let each: Vec<Undefined> = from.iter().map(|operand| self.undefined_of(group, operand)).collect();
        let first = each.iter().flatten().next().map(|(_, from)| *from);
        let mask = if first.is_some() { self.undefined_result(group, words, from, &each)? } else { 0 };
        self.set_undefined(Group { mask: group.mask & !mask, ..group }, Some(to), None);
        self.set_undefined(Group { mask, ..group }, Some(to), first);
        Ok(())
    }

    /// The lanes in which a result depends on operands that are undefined.
    fn undefined_result(&self, group: Group, words: &[&str], from: &[Operand], each: &[Undefined]) -> Result<u32> {
        let masks: Vec<u32> = each.iter().map(|one| one.map_or(0, |(mask, _)| mask)).collect();
        let any = masks.iter().fold(0, |any, mask| any | mask);
        let values = from.iter().map(|operand| self.lanes(group, operand)).collect::<Result<Vec<Lanes>>>();
        let Ok(values) = values else { return Ok(any) };
        let bits = from[0].registers().first().map_or(64, |register| register.bits).min(64);
        // Lanes in which an operand is known, and is that value, so that the others do not count.
        let decides = |number: usize, value: u64| {
            let lanes = (0..LANES).filter(|lane| values[number][*lane] == value);
            lanes.fold(0, |all, lane| all | 1u32 << lane) & !masks[number]
        };
        let all = |value: u64| (0..from.len()).fold(0, |all, number| all | decides(number, value));
        Ok(match words[0] {
            "selp" if from.len() == 3 => {
                let other = (0..LANES).filter(|lane| values[2][*lane] == 0).fold(0, |all, lane| all | 1u32 << lane);
                masks[2] | masks[0] & !other | masks[1] & other
            }
            "and" => any & !all(0),
            "or" => any & !all(u64::MAX >> (64 - bits)),
            "set" | "setp" if from.len() == 3 && words.contains(&"and") => any & !decides(2, 0),
            "set" | "setp" if from.len() == 3 && words.contains(&"or") => any & !decides(2, 1),
            _ => any,
        })
    }

    /// An instruction does something else than to compute.
    fn watch_used(&mut self, group: Group, words: &[&str], operands: &[Operand]) -> Result<()> {
        let gives = !matches!(words[0], "st" | "red" | "wgmma" | "mbarrier" | "cp" | "bar" | "barrier");
        let to = operands.first().filter(|first| gives && !matches!(first, Operand::Address(..)));
        let own = self.mask_of_own(group, words, operands)?;
        for operand in &operands[usize::from(to.is_some())..] {
            let what = match operand {
                Operand::Address(..) => "takes it as an address",
                _ if matches!(words[0], "st" | "red" | "atom") => "stores it",
                _ => "uses it",
            };
            let group = if what == "stores it" { Group { mask: group.mask & !own, ..group } } else { group };
            if let Some(undefined) = self.undefined_of(group, operand) {
                self.use_undefined(group, undefined, operand, what);
            }
        }
        self.set_undefined(group, to, None);
        Ok(())
    }

    /// The lanes that store where only their own threads read: what becomes of a value there is not followed.
    fn mask_of_own(&self, group: Group, words: &[&str], operands: &[Operand]) -> Result<u32> {
        let Some(Operand::Address(base, offset, _)) = operands.first().filter(|_| words[0] == "st") else {
            return Ok(0);
        };
        match Space::of(words) {
            Space::Local | Space::Entry | Space::Func => Ok(group.mask),
            Space::Generic => {
                let addresses = self.lanes(group, base)?;
                let place = |lane: usize| owner(addresses[lane].wrapping_add(*offset), self.cluster).0;
                let own = |lane: &usize| matches!(place(*lane), Owner::Local(_) | Owner::Parameters);
                Ok(lanes_of(group.mask).filter(own).fold(0, |all, lane| all | 1 << lane))
            }
            _ => Ok(0),
        }
    }

    fn set_undefined(&mut self, group: Group, to: Option<&Operand>, from: Option<Absent>) {
        if let Some(to) = to.filter(|_| group.mask != 0) {
            self.warp_mut(group.warp).undefined.set(group.frame, to, group.mask, from);
        }
    }

    /// It is a finding, once.
    fn use_undefined(&mut self, group: Group, (mask, from): (u32, Absent), operand: &Operand, what: &str) {
        let (site, thread) = (self.site, group.thread(mask.trailing_zeros() as usize));
        self.tell(|checks, machine| checks.uses_absent(from, (machine.actor(thread), site), what));
        self.set_undefined(Group { mask, ..group }, Some(operand), None);
    }

    /// Threads of a warp have shuffled: each by its instruction, and each has the value of a lane, or should have.
    pub(crate) fn watch_shuffle(&mut self, all: &[(Thread, &dyn Exchange)], from: &[usize; LANES], mask: u32) {
        let Some((Thread { warp, .. }, _)) = all.first() else { return };
        let here = all.iter().fold(0, |here, (thread, _)| here | 1u32 << thread.lane);
        let is_there = |(thread, _): &(Thread, _)| here >> from[thread.lane] & 1 == 1;
        if self.checks.is_none() || self.warp(*warp).undefined.is_empty() && all.iter().all(is_there) {
            return;
        }
        let site = self.site;
        let source = |thread: Thread| {
            let lane = from[thread.lane];
            let Some((other, what)) = all.iter().find(|(other, _)| other.lane == lane) else {
                let reader: Actor = self.actor(thread);
                return Some(Absent { reader, site, lane, has_ended: mask >> lane & 1 == 1 });
            };
            let group = Group { warp: other.warp, frame: other.frame, mask: 1 << lane };
            what.reads()[0].and_then(|value| self.undefined_of(group, value)).map(|(_, from)| from)
        };
        let sources: Vec<Option<Absent>> = all.iter().map(|(thread, _)| source(*thread)).collect();
        for ((thread, what), from) in all.iter().zip(sources) {
            let group = Group { warp: thread.warp, frame: thread.frame, mask: 1 << thread.lane };
            let [to, exists] = what.writes();
            self.set_undefined(group, exists, None);
            self.set_undefined(group, to, from);
        }
    }
}

fn register_at(at: usize) -> Operand {
    Operand::Register(Register { at, bits: 1 })
}
