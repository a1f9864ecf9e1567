//! What is measured of a kernel, on one GPU and in both languages.

use serde::Serialize;

use crate::tools::target::Sm;

/// One kernel on one GPU, in both languages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The kernel.
    pub kernel: String,
    /// The GPU.
    pub sm: Sm,
    /// In Rust.
    pub rust: Side,
    /// In CUDA C++.
    pub cuda: Side,
}

/// What a kernel became.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Its hot loop, once through; all of it if it has no loop.
    pub hot: Counts,
    /// Whether it has a loop.
    pub has_loop: bool,
    /// All of it.
    pub kernel: Counts,
    /// The global loads of a thread that are on their way at once, in its hot loop.
    pub in_flight: usize,
    /// What a thread and a block of it need.
    pub resources: Resources,
    /// How it may be launched.
    pub bounds: Bounds,
}

/// What a kernel's PTX says about its launch, where it says something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// `.maxntid`: the threads of a block, at most.
    pub threads: Option<u32>,
    /// `.minnctapersm`: the blocks of a multiprocessor, at least.
    pub blocks: Option<u32>,
}

/// Machine instructions, and what they move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Instructions.
    pub instructions: usize,
    /// Those that access memory.
    pub accesses: usize,
    /// The bytes that these move for one thread.
    pub bytes: u32,
}

/// What the assembler says that a kernel needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes that a thread spills, stores and loads together.
    pub spilled: u32,
}

impl Row {
    /// Instructions for each byte moved in the hot loop, those of Rust by those of CUDA C++.
    pub fn ratio(&self) -> f64 {
        let each = |side: &Side| side.hot.instructions as f64 / f64::from(side.hot.bytes.max(1));
        each(&self.rust) / each(&self.cuda)
    }

    /// Whether Rust needs more instructions, or has fewer loads in flight.
    pub fn is_behind(&self) -> bool {
        self.ratio() > 1.0 || self.rust.in_flight < self.cuda.in_flight
    }
}
