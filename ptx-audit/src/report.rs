//! What the audit of a kernel says.

use serde::{Deserialize, Serialize};

use crate::accesses::Access;
use crate::fate::Fate;
use crate::finding::Finding;

/// What was found in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its symbol.
    pub name: String,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of local memory of a thread.
    pub stack: Option<u32>,
    /// Bytes that go through local memory for want of registers.
    pub spilled: Option<u32>,
    /// Machine instructions.
    pub instructions: usize,
    /// Those of the hot loop; of all if there is none.
    pub hot_instructions: usize,
    /// Whether it has a loop.
    pub has_loop: bool,
    /// The loads from global memory in the hot loop.
    pub loads: usize,
    /// The most of them that are on their way at once.
    pub in_flight: usize,
    /// Its memory instructions.
    pub accesses: Vec<Access>,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Kernel {
    /// How many words of its memory instructions have such a fate.
    pub fn count(&self, wanted: impl Fn(&Fate) -> bool) -> usize {
        self.accesses.iter().flat_map(|access| &access.words).filter(|word| wanted(&word.fate)).count()
    }

    /// Words without a trace in the machine code.
    pub fn lost(&self) -> usize {
        self.count(|fate| *fate == Fate::Lost)
    }

    /// Words that the machine code has weaker.
    pub fn weakened(&self) -> usize {
        self.count(|fate| matches!(fate, Fate::Weakened(_)))
    }
}

/// A kernel as one assembler made it for one GPU: a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The file that it was in.
    pub file: String,
    /// The GPU: `sm_90a`.
    pub gpu: String,
    /// The release of the assembler: `13.5`; nothing if the file was machine code.
    pub assembler: Option<String>,
    /// The kernel.
    #[serde(flatten)]
    pub kernel: Kernel,
}

impl Record {
    /// `sm_90 by ptxas 13.5`.
    pub fn made(&self) -> String {
        match &self.assembler {
            Some(release) => format!("{} by ptxas {release}", self.gpu),
            None => self.gpu.clone(),
        }
    }
}
