//! A thread that goes on one turn at a time, in memory where each load returns the newest value.

use crate::limits::Limits;
use crate::program::{Fence, Instruction, Program, Semantics};
use crate::trace::{End, Event, Kind, State, Trace, Walk};

/// No loop is cut.
const LIMITS: Limits = Limits { turns: 0, traces: 0, candidates: 0 };

/// A thread, as far as it has come.
pub(super) struct Steps<'p> {
    program: &'p Program,
    walk: Walk<'p>,
    state: State,
}

impl<'p> Steps<'p> {
    pub(super) fn new(program: &'p Program, thread: usize) -> Steps<'p> {
        let walk = Walk::new(program, thread, &[], &LIMITS);
        Steps { program, walk, state: State::new(program, thread) }
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.state.events
    }

    /// Goes through one instruction that others can see, and what comes before it. Gives its events, by their positions.
    pub(super) fn turn(&mut self, memory: &mut [i64]) -> std::ops::Range<usize> {
        let before = self.state.events.len();
        while let Some(instruction) = self.next(memory) {
            if is_seen(instruction) {
                break;
            }
        }
        before..self.state.events.len()
    }

    fn next(&mut self, memory: &mut [i64]) -> Option<&'p Instruction> {
        let instruction = self.walk.code().get(self.state.at)?;
        let at = |address: usize| self.program.addresses[address].physical;
        let value = match instruction {
            Instruction::Load(_, access) | Instruction::Atomic(_, access, ..) => memory[at(access.address)],
            _ => 0,
        };
        let before = self.state.events.len();
        self.walk.does(&mut self.state, instruction, value);
        for event in &self.state.events[before..] {
            if let Kind::Write { address, value } = event.kind {
                memory[at(address)] = value;
            }
        }
        Some(instruction)
    }

    /// The way that it went. What is left may be nothing that others can see.
    pub(super) fn end(mut self) -> Trace {
        while self.walk.code().get(self.state.at).is_some_and(|instruction| !is_seen(instruction)) {
            self.next(&mut []);
        }
        let registers = self.state.registers.into_iter().map(|(register, (value, _))| (register, value)).collect();
        Trace { events: self.state.events, registers, end: End::Finished }
    }
}

/// Whether other threads can see when an instruction is executed. A fence that is no `fence.sc` is its thread's own.
fn is_seen(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Load(..) | Instruction::Store(..) | Instruction::Atomic(..) | Instruction::Barrier(_) => true,
        Instruction::Fence(Fence::Memory(semantics, _)) => *semantics == Semantics::Sc,
        _ => false,
    }
}
