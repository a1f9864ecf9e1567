//! Which registers an instruction reads and writes, and which instructions may come after it.

use crate::machine::{Action, Line};
use crate::ptx::live::Flow;
use crate::ptx::operand::{Operand, Register};
use crate::ptx::read::{gives, reads_first};
use crate::ptx::text::{Statement, guarded, opcode};

impl Line {
    /// The registers that it names.
    pub(crate) fn registers(&self) -> impl Iterator<Item = Register> {
        let guard = self.guard.map(|(register, _)| register);
        guard.into_iter().chain(self.operands.iter().flat_map(Operand::registers))
    }

    /// The lines of its function that may come after it. It is at a place there.
    pub(crate) fn next(&self, at: usize) -> Vec<usize> {
        let mut next = match &self.action {
            Action::Straight(_) => vec![at + 1],
            Action::Branch(target) => vec![*target],
            Action::Control(step) => step.targets().map_or_else(|| vec![at + 1], <[usize]>::to_vec),
            Action::Unknown(_) | Action::Malformed(_) => Vec::new(),
        };
        if self.guard.is_some() && !next.contains(&(at + 1)) {
            next.push(at + 1);
        }
        next
    }

    /// Whether the value of one of these places matters to it, or changes.
    pub(crate) fn uses(&self, places: &[usize]) -> bool {
        self.registers().any(|register| register.places().any(|place| places.contains(&place)))
    }
}

/// Of each line of a function.
pub(crate) fn flows(statements: &[&Statement], lines: &[Line]) -> Vec<Flow> {
    let lines = statements.iter().zip(lines).enumerate();
    lines.map(|(at, (statement, line))| flow(line, &statement.text, at)).collect()
}

fn flow(line: &Line, text: &str, at: usize) -> Flow {
    let words: Vec<&str> = opcode(guarded(text).1).0.split('.').collect();
    let mut flow = Flow { next: line.next(at), ..Flow::default() };
    flow.reads.extend(line.guard.map(|(register, _)| register.number));
    for (number, operand) in line.operands.iter().enumerate() {
        let is_first = number == 0 && !matches!(operand, Operand::Address(..));
        let registers = || operand.registers().into_iter().map(|register| register.number);
        if !is_first || reads_first(&words) {
            flow.reads.extend(registers());
        }
        if is_first && gives(&words) && line.guard.is_none() {
            flow.writes.extend(registers());
        }
    }
    flow.names.extend(line.registers().map(|register| register.number));
    flow
}
