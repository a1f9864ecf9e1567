//! How many threads executed each instruction, and what their accesses of memory took.

mod accesses;

use std::collections::HashMap;

pub use accesses::{Moved, Taken};

use crate::machine::lanes::Lanes;

/// What is counted of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Nothing.
    #[default]
    Nothing,
    /// How many threads execute each instruction.
    Instructions,
    /// What accesses of memory take, too. The threads of a warp then stay together where the kernel lets them, as on a GPU: what they do
    /// without an order may go unseen.
    Accesses,
}

/// How often the instructions of a program were executed by launches: see [`Program::lines`](crate::Program::lines) and
/// [`Program::accesses`](crate::Program::accesses).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Threads that executed each instruction.
    threads: Vec<u64>,
    pub(crate) accesses: HashMap<(u32, Moved), Taken>,
}

impl Counts {
    /// Of a program with so many instructions.
    pub(crate) fn new(counting: Counting, instructions: usize) -> Counts {
        let threads = if counting == Counting::Nothing { Vec::new() } else { vec![0; instructions] };
        Counts { threads, ..Counts::default() }
    }

    /// A number of threads execute an instruction.
    #[inline]
    pub(crate) fn execute(&mut self, site: u32, threads: u32) {
        if let Some(count) = self.threads.get_mut(site as usize) {
            *count += u64::from(threads);
        }
    }

    /// How many threads executed an instruction.
    pub(crate) fn threads(&self, site: usize) -> u64 {
        self.threads.get(site).copied().unwrap_or_default()
    }

    /// Lanes of a warp access memory. `bytes` is how many each of them accesses.
    pub(crate) fn access(&mut self, site: u32, mask: u32, addresses: &Lanes, bytes: usize) {
        if let Some((moved, taken)) = accesses::taken(mask, addresses, bytes) {
            self.accesses.entry((site, moved)).or_default().add(taken);
        }
    }

    /// Adds those of another launch of the same program. Says whether it executed an instruction that none had executed before.
    pub fn add(&mut self, other: &Counts) -> bool {
        self.threads.resize(self.threads.len().max(other.threads.len()), 0);
        let mut is_new = false;
        for (own, other) in self.threads.iter_mut().zip(&other.threads) {
            is_new |= *own == 0 && *other > 0;
            *own += other;
        }
        for (access, taken) in &other.accesses {
            self.accesses.entry(*access).or_default().add(*taken);
        }
        is_new
    }
}
