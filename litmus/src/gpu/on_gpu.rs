//! Running litmus tests on a GPU, as kernels that its driver compiles.

use super::kernel::{ENDED, HEADER, INSTANCES, Kernel, LINE};
use crate::Program;
use crate::{Quantifier, Term};
use launch::gpu::{Argument, Gpu, Launch};
use ptx_build::error::Result;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Groups of a warp's lanes that run side by side, each lane an instance.
    pub groups: usize,
    /// Launches.
    pub launches: u32,
}

impl Default for Amount {
    fn default() -> Amount {
        Amount { groups: 128, launches: 50 }
    }
}

/// What was seen of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Ends that were as the condition says.
    pub so: u64,
    /// And those that were not.
    pub otherwise: u64,
    /// Instances of which a thread gave up: it waited too long.
    pub gave_up: u64,
}

impl Seen {
    /// What contradicts the model, which says whether the condition holds: an end that it says there is none of.
    pub fn contradicts(&self, quantifier: Quantifier, holds: bool) -> u64 {
        match (quantifier, holds) {
            (Quantifier::Exists, false) | (Quantifier::NotExists, true) => self.so,
            (Quantifier::Forall, true) => self.otherwise,
            _ => 0,
        }
    }
}

/// Runs the kernel of a test, whose entry point has that name.
pub fn run(program: &Program, name: &str, kernel: &Kernel, gpu: &Gpu, amount: Amount) -> Result<Seen> {
    let module = gpu.load(format!("{HEADER}{}", kernel.text).as_bytes())?;
    let line = |word: i64| [&(word as u32).to_le_bytes()[..], &[0; LINE - 4]].concat();
    let initial: Vec<u8> = program.initial.iter().flat_map(|word| line(*word)).collect();
    let initial = if initial.is_empty() { line(0) } else { initial };
    let instances = amount.groups * INSTANCES;
    let (lines, control) = (initial.repeat(instances), vec![0; LINE * instances]);
    let (mut memory, mut left) = (gpu.upload(&lines)?, gpu.upload(&control)?);
    let mut seen = Seen::default();
    for seed in 0..amount.launches {
        gpu.refill(&mut memory, &lines)?;
        gpu.refill(&mut left, &control)?;
        let addresses = [&memory, &left].map(|buffer| Argument::U64(buffer.address()));
        let arguments = addresses.into_iter().chain([Argument::U32(seed), Argument::U64(0)]).collect();
        let blocks = (kernel.blocks * amount.groups) as u32;
        let launch = Launch { kernel: name.to_owned(), blocks, threads: kernel.threads as u32, shared: 0, arguments };
        // SAFETY: each instance has a line for each place, and one for what its threads leave.
        unsafe { gpu.launch(&module, &launch) }?;
        gpu.wait()?;
        let (memory, left) = (gpu.download(&memory)?, gpu.download(&left)?);
        for (memory, left) in memory.chunks_exact(initial.len()).zip(left.chunks_exact(LINE)) {
            seen.add(program, kernel, memory, left);
        }
    }
    Ok(seen)
}

impl Seen {
    fn add(&mut self, program: &Program, kernel: &Kernel, memory: &[u8], left: &[u8]) {
        let word =
            |bytes: &[u8], at: usize| i32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"));
        let threads = program.threads.len();
        if (0..threads).any(|thread| word(left, 1 + thread) as u32 != ENDED) {
            self.gave_up += 1;
            return;
        }
        let value = |term: Term| match term {
            Term::Constant(value) => Some(value),
            Term::Memory(at) => Some(word(memory, at * LINE / 4).into()),
            Term::Register(thread, register) => {
                let at = kernel.left.iter().position(|own| *own == (thread, register))?;
                Some(word(left, 1 + threads + at).into())
            }
        };
        match program.condition.test.holds(&value) {
            Some(true) => self.so += 1,
            _ => self.otherwise += 1,
        }
    }
}
