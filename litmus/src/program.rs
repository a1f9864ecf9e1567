//! What a litmus test is: some threads, the memory that they share, and a condition on how it ends.

use std::fmt;

use super::condition::Condition;
use super::value::{Compare, Operation, Register, Value};

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The addresses that its threads use.
    pub addresses: Vec<Address>,
    /// What each physical location holds at first.
    pub initial: Vec<i64>,
    /// Its threads.
    pub threads: Vec<Thread>,
    /// What is asked about its end.
    pub condition: Condition,
}

/// A name of a location in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What the test calls it.
    pub name: String,
    /// The physical location: aliases share it.
    pub physical: usize,
    /// The virtual address: a name through another proxy shares it, a generic alias does not.
    pub virtual_address: usize,
    /// The proxy that the test declares it for.
    pub proxy: Proxy,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its number in the file.
    pub number: u32,
    /// Where it runs.
    pub placement: Placement,
    /// Registers that do not begin with 0.
    pub initial: Vec<(Register, i64)>,
    /// What it does.
    pub code: Vec<Instruction>,
}

/// Where a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Its block.
    pub cta: u32,
    /// Its cluster, if the test says so. A block without one is a cluster of its own.
    pub cluster: Option<u32>,
    /// Its GPU.
    pub gpu: u32,
}

/// `.sem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// `.weak`
    Weak,
    /// `.volatile`: as `.relaxed` in the scope of the system.
    Volatile,
    /// `.relaxed`
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcqRel,
    /// `.sc`
    Sc,
}

/// `.scope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `.cta`
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Gpu,
    /// `.sys`
    Sys,
}

/// The path by which an operation reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Loads, stores and atomics.
    Generic,
    /// Surfaces.
    Surface,
    /// Textures.
    Texture,
    /// The constant bank.
    Constant,
    /// Asynchronous copies in bulk.
    Async,
}

/// How an instruction reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Which of the test's addresses.
    pub address: usize,
    /// Its order.
    pub semantics: Semantics,
    /// Its scope, unless it is weak.
    pub scope: Option<Scope>,
    /// Its proxy.
    pub proxy: Proxy,
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// `fence.sem.scope`
    Memory(Semantics, Scope),
    /// `fence.proxy.` and a proxy
    Proxy(Proxy),
    /// `fence.proxy.alias`
    Alias,
}

/// A barrier of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// `sync` waits, `arrive` does not.
    pub waits: bool,
    /// Which execution of a barrier it is: threads that execute the same meet.
    pub instance: i64,
    /// The barrier's number.
    pub resource: Value,
    /// How many threads open it, if the test says so.
    pub quorum: Option<Value>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A load.
    Load(Register, Memory),
    /// A store.
    Store(Memory, Value),
    /// An atomic; without a register it is a reduction. A `cas` has two operands, others one.
    Atomic(Option<Register>, Memory, Operation, Vec<Value>),
    /// A fence.
    Fence(Fence),
    /// A barrier of the block.
    Barrier(Barrier),
    /// A register takes a value.
    Move(Register, Value),
    /// Arithmetic in registers.
    Compute(Register, Operation, Value, Value),
    /// A jump to that label if the values compare so.
    Branch(Compare, Value, Value, String),
    /// A jump.
    Jump(String),
    /// Where jumps go.
    Label(String),
}

impl Program {
    /// The address of that name.
    pub fn address(&self, name: &str) -> Option<usize> {
        self.addresses.iter().position(|address| address.name == name)
    }

    /// The position of the instruction after that label.
    pub fn target(thread: &Thread, label: &str) -> Option<usize> {
        let is_it = |at: &Instruction| matches!(at, Instruction::Label(name) if name == label);
        thread.code.iter().position(is_it)
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Semantics::Weak => "weak",
            Semantics::Volatile => "volatile",
            Semantics::Relaxed => "relaxed",
            Semantics::Acquire => "acquire",
            Semantics::Release => "release",
            Semantics::AcqRel => "acq_rel",
            Semantics::Sc => "sc",
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Scope::Cta => "cta",
            Scope::Cluster => "cluster",
            Scope::Gpu => "gpu",
            Scope::Sys => "sys",
        })
    }
}

impl fmt::Display for Register {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "r{}", self.0)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Operation::Add => "add",
            Operation::Sub => "sub",
            Operation::Mul => "mul",
            Operation::Div => "div",
            Operation::And => "and",
            Operation::Or => "or",
            Operation::Xor => "xor",
            Operation::Exch => "exch",
            Operation::Cas => "cas",
        })
    }
}
