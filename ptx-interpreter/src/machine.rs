//! The threads of a launch, and whose turn it is.

use std::collections::{HashMap, VecDeque};

use crate::alu::{Alu, Kind, SOURCES, low, signed};
use crate::asynchronous::Copies;
use crate::code::{CARRY, Code, Line, Operand, Step};
use crate::{Launch, Outside, Program, Result, Stop, Why, stop, wrong};

/// What a thread of a machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// At a barrier of its block.
    AtBarrier,
    /// Until all blocks of its cluster have arrived.
    AtCluster,
    /// Until the other threads of its warp come to the same instruction.
    InWarp,
    Ended,
}

pub(crate) struct Frame<'a> {
    code: &'a Code,
    next: usize,
    registers: Vec<u128>,
    base: u64,
    results: &'a [u64],
}

pub(crate) struct Thread<'a> {
    pub(crate) block: usize,
    /// Its number in the block.
    pub(crate) number: usize,
    pub(crate) code: &'a Code,
    pub(crate) next: usize,
    pub(crate) registers: Vec<u128>,
    /// Where the frame of its function begins in its local memory.
    pub(crate) base: u64,
    pub(crate) local: Vec<u8>,
    stack: Vec<Frame<'a>>,
    pub(crate) state: State,
    /// The phase of the cluster's barrier that it arrived at.
    pub(crate) arrived: u64,
    pub(crate) copies: Copies,
    pub(crate) bulk: Copies,
}

/// A barrier of a block, by its number.
#[derive(Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: usize,
    /// Threads that wait, and the register that each wants a result in.
    pub(crate) waiting: Vec<(usize, Option<usize>)>,
    pub(crate) expected: Option<usize>,
    /// Of the predicates of those that arrived, how many hold.
    pub(crate) holding: usize,
}

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) shared: Vec<u8>,
    pub(crate) barriers: HashMap<u64, Barrier>,
    pub(crate) ended: usize,
}

#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) phase: u64,
    pub(crate) arrived: usize,
    pub(crate) ended: usize,
}

/// Something that happens later.
pub(crate) type Event<'a> = Box<dyn FnOnce(&mut Machine<'a>) -> Result<()> + 'a>;

pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) outside: &'a Outside<'a>,
    pub(crate) launch: &'a Launch<'a>,
    /// Blocks of a cluster.
    pub(crate) cluster: usize,
    pub(crate) threads: Vec<Thread<'a>>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) parameters: Vec<u8>,
    /// Copies that are on their way.
    copies: VecDeque<(u64, Event<'a>)>,
    /// What was sent to other blocks' barriers.
    sent: VecDeque<(u64, Event<'a>)>,
    /// Rounds, in each of which every thread has its turn.
    round: u64,
    pub(crate) steps: u64,
    random: u64,
}

/// What memory holds that nobody has written.
const LOCAL_POISON: u8 = 0x10;
const SHARED_POISON: u8 = 0x5e;

/// Instructions of a turn, at most.
const TURN: u64 = 16;

/// Rounds that something sent to another block is on its way, at most.
const DELAY: u64 = 8;

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, outside: &'a Outside<'a>, launch: &'a Launch<'a>) -> Result<Self> {
        let name = launch.kernel;
        let code = program.functions.get(name).filter(|code| code.is_entry);
        let code = code.ok_or_else(|| wrong(format!("there is no kernel {name}")))?;
        if code.parameters.len() != launch.arguments.len() {
            let (takes, given) = (code.parameters.len(), launch.arguments.len());
            return stop(Why::Wrong, format!("{name} takes {takes} arguments, and is given {given}"));
        }
        let mut parameters = Vec::new();
        for ((parameter, place), argument) in code.parameters.iter().zip(&code.places).zip(launch.arguments) {
            parameters.resize(*place as usize, 0);
            // SAFETY: whoever launches hands over as many bytes as the kernel takes.
            parameters.extend_from_slice(unsafe { std::slice::from_raw_parts(*argument, parameter.bytes) });
        }
        let cluster = code.cluster.unwrap_or(launch.cluster).max(1) as usize;
        let blocks = launch.blocks.iter().product::<u32>() as usize;
        if !blocks.is_multiple_of(cluster) {
            return stop(Why::Wrong, format!("{blocks} blocks are no clusters of {cluster}"));
        }
        let threads = launch.threads.iter().product::<u32>() as usize;
        let shared = vec![SHARED_POISON; program.shared + launch.shared];
        let block = || Block { shared: shared.clone(), ..Block::default() };
        let thread = |block, number| Thread {
            block,
            number,
            code,
            next: 0,
            registers: vec![0; code.registers],
            base: 0,
            local: vec![LOCAL_POISON; code.frame],
            stack: Vec::new(),
            state: State::Running,
            arrived: 0,
            copies: Copies::default(),
            bulk: Copies::default(),
        };
        Ok(Machine {
            program,
            outside,
            launch,
            cluster,
            threads: (0..blocks).flat_map(|block| (0..threads).map(move |number| thread(block, number))).collect(),
            blocks: (0..blocks).map(|_| block()).collect(),
            clusters: (0..blocks / cluster).map(|_| Cluster::default()).collect(),
            parameters,
            copies: VecDeque::new(),
            sent: VecDeque::new(),
            round: 0,
            steps: 0,
            random: launch.seed ^ 0x9e37_79b9_7f4a_7c15,
        })
    }

    /// Every thread has its turn, until all have ended.
    pub(crate) fn run(&mut self) -> Result<()> {
        let mut live: Vec<usize> = (0..self.threads.len()).collect();
        while !live.is_empty() {
            self.happen(self.round)?;
            let (first, mut idle) = (self.draw(live.len() as u64) as usize, true);
            for at in 0..live.len() {
                let thread = live[(first + at) % live.len()];
                for _ in 0..=self.draw(TURN) {
                    if self.threads[thread].state != State::Running {
                        break;
                    }
                    idle = false;
                    self.step(thread)?;
                }
            }
            self.round += 1;
            live.retain(|thread| self.threads[*thread].state != State::Ended);
            if idle && !live.is_empty() {
                let due = self.copies.front().into_iter().chain(self.sent.front()).map(|(due, _)| *due).min();
                match due {
                    Some(due) => self.round = self.round.max(due),
                    None => return self.stuck(live[0]),
                }
            }
        }
        self.happen(u64::MAX)
    }

    fn stuck(&self, thread: usize) -> Result<()> {
        let waits = &self.threads[thread];
        let line = &waits.code.lines[waits.next.saturating_sub(usize::from(waits.state != State::InWarp))];
        let text = format!("every thread waits; thread {} of block {} at {}", waits.number, waits.block, line.text);
        stop(Why::Endless, text)
    }

    /// A number below that one.
    fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    /// Lets a copy be done later, after all that were begun before.
    pub(crate) fn copy_later(&mut self, event: Event<'a>) {
        let last = self.copies.back().map(|(due, _)| *due);
        let due = self.due(last);
        self.copies.push_back((due, event));
    }

    /// Sends something to another block.
    pub(crate) fn send(&mut self, event: Event<'a>) {
        let last = self.sent.back().map(|(due, _)| *due);
        let due = self.due(last);
        self.sent.push_back((due, event));
    }

    fn due(&mut self, last: Option<u64>) -> u64 {
        let due = self.round + 1 + self.draw(DELAY);
        last.map_or(due, |last| due.max(last))
    }

    fn happen(&mut self, until: u64) -> Result<()> {
        self.deliver(until)?;
        while self.copies.front().is_some_and(|(due, _)| *due <= until) {
            let Some((_, event)) = self.copies.pop_front() else { break };
            event(self)?;
        }
        Ok(())
    }

    /// What was sent arrives.
    pub(crate) fn deliver(&mut self, until: u64) -> Result<()> {
        while self.sent.front().is_some_and(|(due, _)| *due <= until) {
            let Some((_, event)) = self.sent.pop_front() else { break };
            event(self)?;
        }
        Ok(())
    }

    fn step(&mut self, at: usize) -> Result<()> {
        self.steps += 1;
        let thread = &mut self.threads[at];
        let code = thread.code;
        let Some(line) = code.lines.get(thread.next) else { return self.leave(at) };
        if self.steps > self.launch.steps {
            let text =
                format!("no end after {} instructions; thread {} at {}", self.launch.steps, thread.number, line.text);
            return stop(Why::Endless, text);
        }
        thread.next += 1;
        if line.guard.is_some_and(|(register, holds)| thread.registers[register] != holds) {
            return Ok(());
        }
        self.execute(at, line).map_err(|error| match error.why {
            Why::Gap => Stop { text: format!("the interpreter does not know {}", error.text), ..error },
            _ => Stop { text: format!("{}: {}", line.text, error.text), ..error },
        })
    }

    fn execute(&mut self, at: usize, line: &'a Line) -> Result<()> {
        match &line.step {
            Step::Compute { alu, to, from } => self.compute(at, alu, to, from),
            Step::Move { bits, to, from } => self.move_parts(at, *bits, to, from),
            Step::Load { space, bytes, signed, to, from } => self.load(at, *space, *bytes, *signed, to, from),
            Step::Store { space, bytes, to, from } => self.store(at, *space, *bytes, to, from),
            Step::Branch(target) => {
                self.threads[at].next = *target;
                Ok(())
            }
            Step::Table(index, targets) => {
                let index = self.get(at, index)? as u32 as usize;
                let target = targets.get(index).ok_or_else(|| wrong(format!("the table has no entry {index}")))?;
                self.threads[at].next = *target;
                Ok(())
            }
            Step::Call { name, results, arguments } => self.call(at, name, results, arguments),
            Step::Return => self.leave(at),
            Step::Exit => self.end(at),
            Step::Other { words, operands } => self.other(at, words, operands),
            Step::Unknown(opcode) => stop(Why::Gap, opcode.clone()),
            Step::Malformed(text) => stop(Why::Wrong, text.clone()),
        }
    }

    fn compute(&mut self, at: usize, alu: &Alu, to: &[Option<usize>; 2], from: &[Operand]) -> Result<()> {
        let mut sources = [0; SOURCES];
        for (source, operand) in sources.iter_mut().zip(from) {
            *source = self.get(at, operand)?;
        }
        sources[crate::alu::CARRY] = self.threads[at].registers[CARRY];
        let [first, second] = (alu.apply)(&sources);
        let registers = &mut self.threads[at].registers;
        if let Some(register) = to[0] {
            let narrow = alu.to[0].kind == Kind::Signed && alu.to[0].lanes == 1;
            registers[register] = if narrow { signed(first, alu.to[0].bits) as u128 } else { first };
        }
        if alu.carries {
            registers[CARRY] = second;
        } else if let Some(register) = to[1] {
            registers[register] = second;
        }
        Ok(())
    }

    /// `mov.b128 %value, {%a, %b}`, and the way back.
    fn move_parts(&mut self, at: usize, bits: u32, to: &[Operand], from: &[Operand]) -> Result<()> {
        let part = |lanes: usize| bits / lanes as u32;
        let mut whole = 0;
        for (number, lane) in from.iter().enumerate() {
            whole |= low(self.get(at, lane)?, part(from.len())) << (part(from.len()) * number as u32);
        }
        for (number, lane) in to.iter().enumerate() {
            self.set(at, lane, low(whole >> (part(to.len()) * number as u32), part(to.len())))?;
        }
        Ok(())
    }

    fn call(&mut self, at: usize, name: &str, results: &'a [u64], arguments: &[u64]) -> Result<()> {
        let code = self
            .program
            .functions
            .get(name)
            .ok_or_else(|| Stop { why: Why::Gap, text: format!("the body of {name}") })?;
        if code.parameters.len() != arguments.len() || code.results.len() != results.len() {
            return stop(Why::Wrong, format!("{name} is handed another number of arguments"));
        }
        let thread = &mut self.threads[at];
        let base = thread.base + thread.code.frame as u64;
        thread.local.truncate(base as usize);
        thread.local.resize(base as usize + code.frame, LOCAL_POISON);
        for ((parameter, place), argument) in code.parameters.iter().zip(&code.places).zip(arguments) {
            let from = (thread.base + argument) as usize;
            thread.local.copy_within(from..from + parameter.bytes, (base + place) as usize);
        }
        let registers = std::mem::replace(&mut thread.registers, vec![0; code.registers]);
        thread.stack.push(Frame { code: thread.code, next: thread.next, registers, base: thread.base, results });
        (thread.code, thread.next, thread.base) = (code, 0, base);
        if thread.stack.len() > 1000 {
            return stop(Why::Endless, format!("{name} calls itself without an end"));
        }
        Ok(())
    }

    fn leave(&mut self, at: usize) -> Result<()> {
        let thread = &mut self.threads[at];
        let Some(frame) = thread.stack.pop() else { return self.end(at) };
        for ((from, bytes), to) in thread.code.results.iter().zip(frame.results) {
            let from = (thread.base + from) as usize;
            thread.local.copy_within(from..from + bytes, (frame.base + to) as usize);
        }
        (thread.code, thread.next, thread.base, thread.registers) =
            (frame.code, frame.next, frame.base, frame.registers);
        Ok(())
    }

    /// Who has ended is not waited for.
    fn end(&mut self, at: usize) -> Result<()> {
        let block = self.threads[at].block;
        self.threads[at].state = State::Ended;
        self.blocks[block].ended += 1;
        self.clusters[block / self.cluster].ended += 1;
        let numbers: Vec<u64> = self.blocks[block].barriers.keys().copied().collect();
        for number in numbers {
            self.complete(block, number);
        }
        self.complete_cluster(block / self.cluster)?;
        self.meet_again(at)
    }

    pub(crate) fn get(&self, at: usize, operand: &Operand) -> Result<u128> {
        Ok(match operand {
            Operand::Register(number) | Operand::Predicate(number) => self.threads[at].registers[*number],
            Operand::Not(number) => 1 - self.threads[at].registers[*number],
            Operand::Number(number) => *number,
            Operand::Name(place) => self.address_in_its_space(at, place).into(),
            Operand::Special(name) => self.special(at, name)?,
            other => return stop(Why::Wrong, format!("{other:?} has no value")),
        })
    }

    pub(crate) fn set(&mut self, at: usize, operand: &Operand, value: u128) -> Result<()> {
        match operand {
            Operand::Register(number) | Operand::Predicate(number) => self.threads[at].registers[*number] = value,
            Operand::Sink => {}
            other => return stop(Why::Wrong, format!("{other:?} is no register")),
        }
        Ok(())
    }
}
