//! What is done by registers whose values are undefined, and what is computed with them.

use std::ops::Range;

use super::compared::{CHANGES, are_compared};
use crate::alu::{Sources, Type, moves_bits};
use crate::check::Origin;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, lanes_of};
use crate::machine::stop::Result;
use crate::machine::undefined::{Bits, Region};
use crate::machine::{Action, Line, Machine, Warp};
use crate::ptx::operand::{Operand, Register};
use crate::ptx::read::gives;
use crate::ptx::text::{guarded, opcode, operands as split, selectors};

const DECIDES: &str = "decides by it what to do";

/// What does not depend on anything else in its lane is looked at elsewhere, when all threads have come.
fn is_of_the_warp(words: &[&str]) -> bool {
    matches!(
        words[0],
        "shfl" | "vote" | "match" | "redux" | "ldmatrix" | "stmatrix" | "movmatrix" | "mma" | "wmma" | "wgmma"
    )
}

/// Whether an operand is followed otherwise: values that are stored, and what a warp exchanges or multiplies. Of `wgmma` all but its
/// registers of matrices and of metadata have to be the same for all.
fn is_followed(words: &[&str], number: usize, operand: &Operand) -> bool {
    match words[0] {
        _ if matches!(operand, Operand::Address(..)) => false,
        "st" => true,
        "atom" if words.contains(&"cas") => !words.contains(&"b128"),
        "wgmma" => matches!(operand, Operand::Vector(_)) || words.contains(&"sp") && number == 3,
        "wmma" => matches!(operand, Operand::Vector(_)),
        // All have to select the same scales.
        "mma" => number != 5 && number != 7,
        _ => is_of_the_warp(words),
    }
}

/// A number without itself is zero, whatever it is.
fn is_nothing(words: &[&str], from: &[Operand]) -> bool {
    let is_exact = match words[0] {
        "xor" => true,
        "sub" => words.last().is_some_and(|ty| ty.starts_with(['s', 'u'])),
        _ => false,
    };
    is_exact && matches!(from, [Operand::Register(one), Operand::Register(other)] if one == other)
}

fn computes(line: &Line) -> bool {
    matches!(&line.action, Action::Straight(step) if step.computes())
}

/// The lines between a branch and where its two ways meet, if all of them only compute: those that it leaves out, and the others.
fn until_they_meet(lines: &[Line], at: usize, target: usize) -> Option<Range<usize>> {
    let left_out = lines.get(at + 1..target)?;
    if left_out.iter().all(computes) {
        return Some(at + 1..target);
    }
    // These end with a branch that leaves out the other way.
    let (last, first) = left_out.split_last()?;
    let (Action::Branch(end), None) = (&last.action, last.guard) else { return None };
    let other = lines.get(target..*end)?;
    first.iter().chain(other).all(computes).then_some(at + 1..*end)
}

impl Warp<'_> {
    /// Whether there are registers that have no value yet, or an undefined one.
    #[inline]
    pub(crate) fn has_no_value_in_some(&self) -> bool {
        !self.undefined.is_empty() || !self.tensor.loading.is_empty()
    }

    /// Whether it matters which registers an instruction uses.
    #[inline]
    pub(crate) fn follows_registers(&self) -> bool {
        self.has_no_value_in_some() || !self.reading.is_empty()
    }
}

impl Machine<'_> {
    /// A group is about to execute an instruction, and some registers of its warp have no value yet, or an undefined one, or are read.
    #[cold]
    pub(crate) fn watch_registers(&mut self, group: Group, line: &Line, at: usize) -> Result<()> {
        self.watch_loading(group);
        self.watch_overwritten(group, line);
        let region = self.warp_mut(group.warp).undefined.at(group.frame, group.mask, at);
        let undefined = &self.warp(group.warp).undefined;
        let is_followed = |register: Register| undefined.has(group.frame, register.number);
        let guard = line.guard.map(|(register, _)| register);
        if region.is_none()
            && !guard.is_some_and(is_followed)
            && !line.operands.iter().any(|operand| operand.any_register(is_followed))
        {
            return Ok(());
        }
        let text = self.program.sites[self.site as usize].text.as_str();
        let (opcode, rest) = opcode(guarded(text).1);
        let selectors = selectors(opcode, &mut split(rest));
        let words: Vec<&str> = opcode.split('.').chain(selectors.iter().map(String::as_str)).collect();
        let Some(group) = self.watch_guard(group, line, at) else { return Ok(()) };
        if !computes(line) {
            return self.watch_used(group, &words, &line.operands);
        }
        self.watch_computed(group, &words, &line.operands)?;
        if let Some((mask, origin)) = region {
            self.all_undefined(Group { mask: mask & group.mask, ..group }, line, origin);
        }
        Ok(())
    }

    /// What a line gives its register is undefined.
    fn all_undefined(&mut self, group: Group, line: &Line, origin: Origin) {
        let bits = Bits { lanes: [u64::MAX; LANES], origin: Origin { is_computed: true, ..origin } };
        line.operands.first().into_iter().for_each(|to| self.set_undefined(group, to, Some(&bits)));
    }

    /// Threads branch by a value that is undefined. If both ways do nothing but compute until they meet, what they compute is undefined.
    fn chooses(&mut self, group: Group, (at, target): (usize, usize), origin: Origin) -> bool {
        let code = self.frame(group).code;
        let Some(lines) = until_they_meet(&code.lines, at, target) else { return false };
        for line in &code.lines[lines.clone()] {
            if computes(line) {
                self.all_undefined(group, line, origin);
            }
        }
        let region = Region { frame: group.frame, lines, mask: group.mask, origin };
        self.warp_mut(group.warp).undefined.regions.push(region);
        true
    }

    /// The undefined bits of a register in the lanes of a group.
    pub(super) fn undefined(&self, group: Group, register: usize) -> Option<Bits> {
        let mut bits = *self.warp(group.warp).undefined.of(group.frame, register)?;
        (0..LANES).filter(|lane| group.mask >> lane & 1 == 0).for_each(|lane| bits.lanes[lane] = 0);
        (bits.mask() != 0).then(|| self.as_read(group, bits))
    }

    /// Of an operand those of its first register that has some.
    pub(super) fn undefined_of(&self, group: Group, operand: &Operand) -> Option<Bits> {
        operand.numbers().find_map(|(number, _)| self.undefined(group, number))
    }

    pub(super) fn set_undefined(&mut self, group: Group, to: &Operand, bits: Option<&Bits>) {
        let undefined = &mut self.warp_mut(group.warp).undefined;
        to.numbers().for_each(|(number, _)| undefined.set((group.frame, number), group.mask, bits));
    }

    /// Those who execute a line, by its guard. If a branch depends on a value that is undefined, that is a finding; what another
    /// instruction gives its register is undefined.
    fn watch_guard(&mut self, group: Group, line: &Line, at: usize) -> Option<Group> {
        let Some((register, holds)) = line.guard else { return Some(group) };
        let active = group.mask & self.holding(group, register, holds);
        let Some(bits) = self.undefined(group, register.number) else {
            return (active != 0).then_some(Group { mask: active, ..group });
        };
        let mask = bits.mask();
        let unsure = Group { mask, ..group };
        let chooses = matches!(line.action, Action::Branch(target) if self.chooses(unsure, (at, target), bits.origin));
        if computes(line) {
            self.all_undefined(unsure, line, bits.origin);
        } else if !chooses {
            self.use_undefined(group, &bits, &Operand::Register(register), DECIDES);
        }
        let mask = active & !mask;
        (mask != 0).then_some(Group { mask, ..group })
    }

    fn watch_computed(&mut self, group: Group, words: &[&str], operands: &[Operand]) -> Result<()> {
        let Some((to, from)) = operands.split_first() else { return Ok(()) };
        let origins = from
            .iter()
            .flat_map(Operand::numbers)
            .filter_map(|(number, _)| Some(self.undefined(group, number)?.origin));
        let Some(mut origin) =
            origins.reduce(|one, other| Origin { is_computed: one.is_computed | other.is_computed, ..one })
        else {
            self.set_undefined(group, to, None);
            return Ok(());
        };
        let is_whole = |operand: &Operand| !matches!(operand, Operand::Vector(_)) && operand.numbers().count() < 2;
        if words[0] == "mov" && !operands.iter().all(is_whole) {
            let bits = words.last().and_then(|ty| Type::parse(ty)).map_or(64, |ty| ty.bits);
            self.watch_moved(group, bits, [to, &from[0]], origin);
            return Ok(());
        }
        if is_nothing(words, from) {
            self.set_undefined(group, to, None);
            return Ok(());
        }
        origin.is_computed |= !moves_bits(words);
        let values: Vec<Lanes> = from.iter().map(|operand| self.lanes(group, operand).unwrap_or([0; LANES])).collect();
        let bits: Vec<Option<Bits>> = from.iter().map(|operand| self.undefined_of(group, operand)).collect();
        let are_compared = match &bits[..] {
            [Some(one), Some(other)] => are_compared(words, [one, other]),
            _ => 0,
        };
        let undefined: Vec<Lanes> = bits.iter().map(|bits| bits.map_or([0; LANES], |bits| bits.lanes)).collect();
        let width = to.numbers().next().map_or(64, |(_, bits)| bits);
        let lane = |lane: usize| {
            let of = |all: &[Lanes]| all.iter().map(|one| one[lane]).collect::<Vec<u64>>();
            if are_compared >> lane & 1 == 1 {
                return 0;
            }
            Sources { words, values: &of(&values), undefined: &of(&undefined) }.result(width)
        };
        let lanes = std::array::from_fn(lane);
        self.set_undefined(group, to, Some(&Bits { lanes, origin }));
        Ok(())
    }

    /// `mov` between registers that have `bits` bits in all.
    fn watch_moved(&mut self, group: Group, bits: u32, [to, from]: [&Operand; 2], origin: Origin) {
        let parts = |operand: &Operand| operand.clone().lanes();
        let (mut whole, all) = ([0u128; LANES], parts(from));
        let part = bits / all.len() as u32;
        for (number, operand) in all.iter().enumerate() {
            for (half, (register, _)) in operand.numbers().enumerate() {
                let begin = part * number as u32 + 64 * half as u32;
                if let Some(undefined) = self.undefined(group, register) {
                    lanes_of(group.mask).for_each(|lane| whole[lane] |= u128::from(undefined.lanes[lane]) << begin);
                }
            }
        }
        let all = parts(to);
        let part = bits / all.len() as u32;
        for (number, operand) in all.iter().enumerate() {
            for (half, (register, _)) in operand.numbers().enumerate() {
                let begin = part * number as u32 + 64 * half as u32;
                let lanes = whole.map(|whole| (whole >> begin) as u64 & (u64::MAX >> (64 - part.min(64))));
                let undefined = &mut self.warp_mut(group.warp).undefined;
                undefined.set((group.frame, register), group.mask, Some(&Bits { lanes, origin }));
            }
        }
    }

    /// An instruction does something else than to compute.
    fn watch_used(&mut self, group: Group, words: &[&str], operands: &[Operand]) -> Result<()> {
        let to = operands.first().filter(|first| gives(words) && !matches!(first, Operand::Address(..)));
        for (number, operand) in operands.iter().enumerate().skip(usize::from(to.is_some())) {
            let is_address = matches!(operand, Operand::Address(..));
            if is_followed(words, number, operand) {
                continue;
            }
            // The other lanes name no row of the matrices.
            let named = if is_address { rows_named(words) } else { u32::MAX };
            let group = Group { mask: group.mask & named, ..group };
            if let Some(bits) = self.undefined_of(group, operand) {
                let what = match words[0] {
                    _ if is_address => "takes it as an address",
                    "brx" | "call" => DECIDES,
                    "red" | "atom" => CHANGES,
                    _ => "uses it",
                };
                self.use_undefined(group, &bits, operand, what);
            }
        }
        if let Some(to) = to.filter(|_| !is_of_the_warp(words)) {
            self.set_undefined(group, to, None);
        }
        Ok(())
    }

    /// It is a finding, once.
    pub(super) fn use_undefined(&mut self, group: Group, bits: &Bits, operand: &Operand, what: &str) {
        let (site, mask) = (self.site, bits.mask() & group.mask);
        let thread = group.thread(mask.trailing_zeros() as usize);
        self.tell(|checks, machine| checks.uses_undefined(bits.origin.cause, (machine.actor(thread), site), what));
        self.set_undefined(Group { mask, ..group }, operand, None);
    }
}

/// The lanes whose addresses an instruction takes.
fn rows_named(words: &[&str]) -> u32 {
    let is_of_a_matrix = matches!(words[0], "ldmatrix" | "stmatrix");
    let count = words.iter().find_map(|word| ["x1", "x2"].iter().position(|count| count == word));
    match count.filter(|_| is_of_a_matrix && words.contains(&"m8n8")) {
        Some(doubled) => (1 << (8 << doubled)) - 1,
        None => u32::MAX,
    }
}
