//! What one thread may do, if its loads return any value that is ever written.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::Term;
use super::limits::{Limits, TooLarge};
use super::program::{Barrier, Fence, Instruction, Memory, Program, Proxy, Scope, Semantics};
use super::relation::{EVENTS, Set};
use super::value::{Operation, Register, Value};

/// The values that a location may hold.
pub(super) type Domain = BTreeSet<i64>;

/// Something that a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The thread's position; the initial writes have none.
    pub(super) thread: Option<usize>,
    pub(super) kind: Kind,
    pub(super) semantics: Semantics,
    pub(super) scope: Scope,
    pub(super) proxy: Proxy,
    /// The earlier events of this thread, by their positions in it, that it depends on.
    pub(super) depends: Set,
    /// Of an atomic's write: the position of its read in the thread.
    pub(super) read: Option<usize>,
    /// The position of its instruction in the thread.
    pub(super) at: usize,
}

/// What kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read { address: usize, value: i64 },
    Write { address: usize, value: i64 },
    Fence,
    ProxyFence,
    AliasFence,
    Barrier(Arrival),
}

/// A thread's arrival at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    pub(super) instance: i64,
    pub(super) resource: i64,
    /// How often the thread was at this barrier before.
    pub(super) turn: usize,
    pub(super) quorum: Option<i64>,
    pub(super) waits: bool,
}

/// One way through a thread.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) events: Vec<Event>,
    pub(super) registers: BTreeMap<Register, i64>,
    pub(super) end: End,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// After the last instruction.
    Finished,
    /// In a loop that was followed as often as the bound says.
    Cut,
    /// In a loop without effects that comes back to the state in which it began: its events begin there.
    Spins(usize),
}

/// All ways through each thread, and whether loops were cut.
pub(super) fn traces(program: &Program, limits: &Limits, thin_air: bool) -> Result<Vec<Vec<Trace>>, TooLarge> {
    let mut domains: Vec<Domain> = program.initial.iter().map(|value| Domain::from([*value])).collect();
    if thin_air {
        let terms = program.condition.test.terms();
        let guessed: Domain = terms
            .iter()
            .filter_map(|term| if let Term::Constant(value) = term { Some(*value) } else { None })
            .collect();
        domains.iter_mut().for_each(|domain| domain.extend(&guessed));
    }
    let mut rounds = 0;
    loop {
        let walked = (0..program.threads.len()).map(|thread| Walk::all(program, thread, &domains, limits));
        let mut walked: Vec<Vec<Trace>> = walked.collect::<Result<_, _>>()?;
        let most = |traces: &Vec<Trace>| traces.iter().map(Trace::writes).max().unwrap_or_default();
        let before: usize = domains.iter().map(Domain::len).sum();
        for event in walked.iter().flatten().flat_map(|trace| &trace.events) {
            if let Kind::Write { address, value } = event.kind {
                domains[program.addresses[address].physical].insert(value);
            }
        }
        rounds += 1;
        // A value goes through each write at most once before it comes to a load: nothing is out of thin air.
        if domains.iter().map(Domain::len).sum::<usize>() == before || rounds > walked.iter().map(most).sum::<usize>() {
            // The short ways are the likely ones.
            walked.iter_mut().for_each(|traces| traces.sort_by_key(|trace| trace.events.len()));
            return Ok(walked);
        }
    }
}

impl Trace {
    fn writes(&self) -> usize {
        self.events.iter().filter(|event| matches!(event.kind, Kind::Write { .. })).count()
    }
}

pub(super) struct Walk<'p> {
    program: &'p Program,
    thread: usize,
    domains: &'p [Domain],
    limits: &'p Limits,
    /// Which registers matter before each instruction.
    live: Vec<BTreeSet<Register>>,
    found: Vec<Trace>,
}

#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) at: usize,
    pub(super) registers: BTreeMap<Register, (i64, Set)>,
    /// What the branches so far depended on.
    control: Set,
    pub(super) events: Vec<Event>,
    /// The labels that were passed: where, with which values, and after how many events.
    passed: Vec<(usize, Vec<i64>, usize)>,
}

impl<'p> Walk<'p> {
    fn all(
        program: &'p Program,
        thread: usize,
        domains: &'p [Domain],
        limits: &'p Limits,
    ) -> Result<Vec<Trace>, TooLarge> {
        let mut walk = Walk::new(program, thread, domains, limits);
        walk.on(State::new(program, thread))?;
        Ok(walk.found)
    }

    pub(super) fn new(program: &'p Program, thread: usize, domains: &'p [Domain], limits: &'p Limits) -> Walk<'p> {
        Walk { program, thread, domains, limits, live: live(program, thread), found: Vec::new() }
    }

    pub(super) fn code(&self) -> &'p [Instruction] {
        &self.program.threads[self.thread].code
    }

    fn end(&mut self, state: State, end: End) -> Result<(), TooLarge> {
        if self.found.len() >= self.limits.traces {
            return Err(TooLarge::Traces(self.limits.traces));
        }
        let registers = state.registers.into_iter().map(|(register, (value, _))| (register, value)).collect();
        self.found.push(Trace { events: state.events, registers, end });
        Ok(())
    }

    fn on(&mut self, mut state: State) -> Result<(), TooLarge> {
        loop {
            if state.events.len() >= EVENTS {
                return Err(TooLarge::Events(EVENTS));
            }
            let Some(instruction) = self.code().get(state.at) else { return self.end(state, End::Finished) };
            match instruction {
                Instruction::Load(_, memory) | Instruction::Atomic(_, memory, ..) => {
                    for &value in self.domain(memory) {
                        let mut read = state.clone();
                        self.does(&mut read, instruction, value);
                        self.on(read)?;
                    }
                    return Ok(());
                }
                _ => self.does(&mut state, instruction, 0),
            }
            if let Instruction::Label(_) = instruction
                && let Some(end) = self.pass(&mut state)
            {
                return self.end(state, end);
            }
        }
    }

    /// The next instruction, which reads that value if it reads memory.
    pub(super) fn does(&self, state: &mut State, instruction: &Instruction, value: i64) {
        state.at += 1;
        match instruction {
            Instruction::Label(_) => {}
            Instruction::Jump(label) => state.at = self.target(label),
            Instruction::Branch(compare, a, b, label) => {
                let ((a, from_a), (b, from_b)) = (state.value(*a), state.value(*b));
                state.control |= from_a | from_b;
                if compare.holds(a, b) {
                    state.at = self.target(label);
                }
            }
            Instruction::Move(to, value) => {
                let value = state.value(*value);
                state.registers.insert(*to, value);
            }
            Instruction::Compute(to, operation, a, b) => {
                let ((a, from_a), (b, from_b)) = (state.value(*a), state.value(*b));
                state.registers.insert(*to, (operation.apply(a, b), from_a | from_b));
            }
            Instruction::Fence(fence) => self.fence(state, *fence),
            Instruction::Barrier(barrier) => self.barrier(state, barrier),
            Instruction::Store(memory, value) => {
                let (value, from) = state.value(*value);
                let kind = Kind::Write { address: memory.address, value };
                state.events.push(self.access(state, memory, kind, memory.semantics, from));
            }
            Instruction::Load(to, memory) => {
                let at = self.read(state, memory, value);
                state.registers.insert(*to, (value, 1 << at));
            }
            Instruction::Atomic(to, memory, operation, values) => {
                self.atomic(state, *to, memory, *operation, values, value);
            }
        }
    }

    fn target(&self, label: &str) -> usize {
        Program::target(&self.program.threads[self.thread], label).expect("the parser looked")
    }

    fn domain(&self, memory: &Memory) -> &'p Domain {
        &self.domains[self.program.addresses[memory.address].physical]
    }

    /// Whether the way ends at this label: its state was there before and nothing has happened since, or it was too often
    /// there.
    fn pass(&self, state: &mut State) -> Option<End> {
        let here = state.at - 1;
        let values: Vec<i64> =
            self.live[here].iter().map(|register| state.value(Value::Register(*register)).0).collect();
        let had_effect = |from: usize| {
            state.events[from..].iter().any(|event| matches!(event.kind, Kind::Write { .. } | Kind::Barrier(_)))
        };
        let same =
            state.passed.iter().find(|(at, before, from)| *at == here && *before == values && !had_effect(*from));
        if let Some((.., from)) = same {
            return Some(End::Spins(*from));
        }
        let turns = state.passed.iter().filter(|(at, ..)| *at == here).count();
        state.passed.push((here, values, state.events.len()));
        (turns > self.limits.turns).then_some(End::Cut)
    }

    fn event(&self, state: &State, kind: Kind) -> Event {
        Event {
            thread: Some(self.thread),
            kind,
            semantics: Semantics::Weak,
            scope: Scope::Cta,
            proxy: Proxy::Generic,
            depends: state.control,
            read: None,
            at: state.at.saturating_sub(1),
        }
    }

    fn access(&self, state: &State, memory: &Memory, kind: Kind, semantics: Semantics, from: Set) -> Event {
        let volatile = memory.semantics == Semantics::Volatile;
        Event {
            semantics: if volatile { Semantics::Relaxed } else { semantics },
            scope: if volatile { Scope::Sys } else { memory.scope.unwrap_or(Scope::Cta) },
            proxy: memory.proxy,
            depends: state.control | from,
            ..self.event(state, kind)
        }
    }

    fn fence(&self, state: &mut State, fence: Fence) {
        let event = match fence {
            Fence::Memory(semantics, scope) => Event { semantics, scope, ..self.event(state, Kind::Fence) },
            Fence::Proxy(proxy) => Event { proxy, ..self.event(state, Kind::ProxyFence) },
            Fence::Alias => self.event(state, Kind::AliasFence),
        };
        state.events.push(event);
    }

    fn barrier(&self, state: &mut State, barrier: &Barrier) {
        let (resource, quorum) = (state.value(barrier.resource).0, barrier.quorum.map(|quorum| state.value(quorum).0));
        let same = |event: &&Event| matches!(event.kind, Kind::Barrier(other) if (other.instance, other.resource) == (barrier.instance, resource));
        let turn = state.events.iter().filter(same).count();
        let arrival = Arrival { instance: barrier.instance, resource, turn, quorum, waits: barrier.waits };
        state.events.push(self.event(state, Kind::Barrier(arrival)));
    }

    /// Adds the load, and says where.
    fn read(&self, state: &mut State, memory: &Memory, value: i64) -> usize {
        let semantics = match memory.semantics {
            Semantics::AcqRel => Semantics::Acquire,
            Semantics::Release => Semantics::Relaxed,
            semantics => semantics,
        };
        let kind = Kind::Read { address: memory.address, value };
        state.events.push(self.access(state, memory, kind, semantics, 0));
        state.events.len() - 1
    }

    fn atomic(
        &self,
        state: &mut State,
        to: Option<Register>,
        memory: &Memory,
        operation: Operation,
        values: &[Value],
        old: i64,
    ) {
        let operands: Vec<(i64, Set)> = values.iter().map(|value| state.value(*value)).collect();
        let read = self.read(state, memory, old);
        let (new, from) = match operands[..] {
            [(compare, _), _] if operation == Operation::Cas && compare != old => (None, 0),
            [(_, from_compare), (new, from)] => (Some(new), from | from_compare | 1 << read),
            [(new, from)] if operation == Operation::Exch => (Some(new), from),
            [(operand, from)] => (Some(operation.apply(old, operand)), from | 1 << read),
            _ => (None, 0),
        };
        if let Some(value) = new {
            let semantics = match memory.semantics {
                Semantics::AcqRel => Semantics::Release,
                Semantics::Acquire => Semantics::Relaxed,
                semantics => semantics,
            };
            let kind = Kind::Write { address: memory.address, value };
            let write = self.access(state, memory, kind, semantics, from);
            state.events.push(Event { read: Some(read), ..write });
        }
        if let Some(to) = to {
            state.registers.insert(to, (old, 1 << read));
        }
    }
}

impl State {
    pub(super) fn new(program: &Program, thread: usize) -> State {
        let registers = program.threads[thread].initial.iter().map(|&(register, value)| (register, (value, 0)));
        State { registers: registers.collect(), ..State::default() }
    }

    fn value(&self, value: Value) -> (i64, Set) {
        match value {
            Value::Constant(value) => (value, 0),
            Value::Register(register) => self.registers.get(&register).copied().unwrap_or_default(),
        }
    }
}

/// The registers whose values matter before each instruction of a thread: what it reads before it writes them, and what
/// the condition asks for.
fn live(program: &Program, thread: usize) -> Vec<BTreeSet<Register>> {
    let code = &program.threads[thread].code;
    let terms = program.condition.test.terms();
    let asked = terms.iter().filter_map(|term| match term {
        Term::Register(of, register) if *of == thread => Some(*register),
        _ => None,
    });
    let mut live = vec![BTreeSet::new(); code.len()];
    live.push(asked.collect());
    loop {
        let before = live.clone();
        for at in (0..code.len()).rev() {
            let target = |label: &str| Program::target(&program.threads[thread], label).expect("the parser looked");
            let mut after = match &code[at] {
                Instruction::Jump(label) => live[target(label)].clone(),
                Instruction::Branch(.., label) => live[at + 1].union(&live[target(label)]).copied().collect(),
                _ => live[at + 1].clone(),
            };
            let (read, written) = uses(&code[at]);
            after.retain(|register| Some(*register) != written);
            after.extend(
                read.into_iter()
                    .filter_map(|value| if let Value::Register(register) = value { Some(register) } else { None }),
            );
            live[at] = after;
        }
        if live == before {
            return live;
        }
    }
}

/// What an instruction reads, and the register that it writes.
fn uses(instruction: &Instruction) -> (Vec<Value>, Option<Register>) {
    match instruction {
        Instruction::Load(to, _) => (Vec::new(), Some(*to)),
        Instruction::Store(_, value) => (vec![*value], None),
        Instruction::Atomic(to, _, _, values) => (values.clone(), *to),
        Instruction::Barrier(barrier) => {
            ([Some(barrier.resource), barrier.quorum].into_iter().flatten().collect(), None)
        }
        Instruction::Move(to, value) => (vec![*value], Some(*to)),
        Instruction::Compute(to, _, a, b) => (vec![*a, *b], Some(*to)),
        Instruction::Branch(_, a, b, _) => (vec![*a, *b], None),
        Instruction::Fence(_) | Instruction::Jump(_) | Instruction::Label(_) => (Vec::new(), None),
    }
}
