//! Registers that are read before anything was written to them: variables that a way through a function does not set.

use crate::check::{Cause, Origin};
use crate::machine::group::Group;
use crate::machine::lanes::LANES;
use crate::machine::undefined::Bits;
use crate::machine::{Action, Code, Line, Machine, Program};
use crate::ptx::operand::{Operand, Register};
use crate::ptx::read::{gives, reads_first};
use crate::ptx::read_first::{Flow, read_first};
use crate::ptx::text::{guarded, opcode};

impl Machine<'_> {
    /// A group begins a function. The registers that it may read before it writes them have no value.
    pub(crate) fn begins_unset(&mut self, group: Group) {
        if self.checks.is_none() {
            return;
        }
        let (code, program) = (self.frame(group).code, self.program);
        let registers = code.read_first.get_or_init(|| program.read_first(code));
        let undefined = &mut self.warp_mut(group.warp).undefined;
        for (at, width) in registers {
            let bits = Bits {
                lanes: [u64::MAX >> (64 - width); LANES],
                origin: Origin { cause: Cause::Unset, is_computed: false },
            };
            undefined.set((group.frame, *at), group.mask, Some(&bits));
        }
    }

    /// How some bits of a register came to be undefined, for what reads them now. A copy is no reading.
    pub(super) fn as_read(&self, group: Group, bits: Bits) -> Bits {
        let text = || guarded(&self.program.sites[self.site as usize].text).1;
        if !matches!(bits.origin.cause, Cause::Unset) || text().starts_with("mov.") {
            return bits;
        }
        let thread = group.thread(bits.mask().trailing_zeros() as usize);
        let cause = Cause::ReadUnset { reader: self.actor(thread), site: self.site };
        Bits { origin: Origin { cause, ..bits.origin }, ..bits }
    }
}

impl Program {
    fn read_first(&self, code: &Code) -> Vec<(usize, u32)> {
        let mut registers: Vec<Register> =
            code.lines.iter().flat_map(|line| &line.operands).flat_map(Operand::registers).collect();
        registers.extend(code.lines.iter().filter_map(guard));
        registers.sort_unstable_by_key(|register| register.at);
        registers.dedup_by_key(|register| register.at);
        let flows: Vec<Flow> = code.lines.iter().enumerate().map(|(at, line)| self.flow(line, at)).collect();
        let number = |at: usize| registers.binary_search_by_key(&at, |register| register.at).ok();
        let read = read_first(&flows).into_iter().filter_map(|at| Some(Operand::Register(registers[number(at)?])));
        read.flat_map(|register| register.places().collect::<Vec<_>>()).collect()
    }

    fn flow(&self, line: &Line, at: usize) -> Flow {
        let words: Vec<&str> = opcode(guarded(&self.sites[line.site as usize].text).1).0.split('.').collect();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        reads.extend(guard(line).map(|register| register.at));
        for (number, operand) in line.operands.iter().enumerate() {
            let is_first = number == 0 && !matches!(operand, Operand::Address(..));
            let registers = || operand.registers().into_iter().map(|register| register.at);
            if !is_first || reads_first(&words) {
                reads.extend(registers());
            }
            if is_first && gives(&words) && line.guard.is_none() {
                writes.extend(registers());
            }
        }
        Flow { reads, writes, next: next(line, at) }
    }
}

fn guard(line: &Line) -> Option<Register> {
    line.guard.map(|(at, _)| Register { at, bits: 1 })
}

/// The lines that may come after one.
fn next(line: &Line, at: usize) -> Vec<usize> {
    let mut next = match &line.action {
        Action::Straight(_) => vec![at + 1],
        Action::Branch(target) => vec![*target],
        Action::Control(step) => step.targets().map_or_else(|| vec![at + 1], <[usize]>::to_vec),
        Action::Unknown(_) | Action::Malformed(_) => Vec::new(),
    };
    if line.guard.is_some() && !next.contains(&(at + 1)) {
        next.push(at + 1);
    }
    next
}
