//! What is measured of a kernel, on one GPU and in both languages.

use crate::tools::resources::Resources;
use crate::tools::target::Sm;

/// One kernel on one GPU, in both languages.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    pub needs: Needs,
    /// How it may be launched.
    pub bounds: Bounds,
}

/// What a kernel's PTX says about its launch, where it says something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// `.maxntid`: the threads of a block, at most.
    pub threads: Option<u32>,
    /// `.minnctapersm`: the blocks of a multiprocessor, at least.
    pub blocks: Option<u32>,
}

/// Machine instructions, and what they move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions.
    pub instructions: usize,
    /// Those that access memory.
    pub accesses: usize,
    /// The bytes that these move for one thread.
    pub bytes: u32,
}

/// What the assembler says that a kernel needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of local memory of a thread.
    pub stack: u32,
    /// Bytes that a thread spills, stores and loads together.
    pub spilled: u32,
}

impl Needs {
    pub(super) fn of(kernel: &Resources) -> Self {
        let Resources { registers, shared, stack, spilled, .. } = *kernel;
        Needs { registers, shared, stack, spilled }
    }
}

impl Row {
    /// Instructions of the hot loop for each byte that it moves, those of Rust by those of CUDA C++. If neither moves a multiple of
    /// what the other does, an access is written out twice, or the loops are not the same: then it is at least the ratio of the loops
    /// as they are.
    pub fn ratio(&self) -> f64 {
        let [(rust, bytes_of_rust), (cuda, bytes_of_cuda)] =
            [&self.rust, &self.cuda].map(|side| (side.hot.instructions as f64, side.hot.bytes.max(1)));
        let by_bytes = (rust / f64::from(bytes_of_rust)) / (cuda / f64::from(bytes_of_cuda));
        match bytes_of_rust.max(bytes_of_cuda) % bytes_of_rust.min(bytes_of_cuda) {
            0 => by_bytes,
            _ => by_bytes.max(rust / cuda),
        }
    }

    /// Whether Rust needs more instructions or more local memory, or has fewer loads in flight.
    pub fn is_behind(&self) -> bool {
        let more_local = self.rust.needs.stack > self.cuda.needs.stack;
        self.ratio() > 1.0 || more_local || self.rust.in_flight < self.cuda.in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_compared_by_as_many_bytes() {
        let side = |(instructions, bytes)| Side { hot: Counts { instructions, bytes, accesses: 1 }, ..Side::default() };
        for (rust, cuda, expected) in [
            ((30, 32), (40, 32), 0.75),
            // Unrolled further, by four.
            ((60, 128), (20, 32), 0.75),
            ((20, 32), (60, 128), 4.0 / 3.0),
            // The first turn of an inner loop is written out: it is not more work, in neither of them.
            ((90, 320), (100, 256), 0.9),
            ((90, 256), (100, 320), 1.125),
        ] {
            let row = Row { kernel: String::new(), sm: Sm::new(90), rust: side(rust), cuda: side(cuda) };
            assert!((row.ratio() - expected).abs() < 1e-9, "{rust:?} by {cuda:?} is {}", row.ratio());
        }
    }
}
