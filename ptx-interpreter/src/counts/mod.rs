//! How many threads executed each instruction, and so each line of a kernel's source; and what their accesses of memory took.

mod accesses;

use std::collections::{BTreeMap, HashMap};

pub use accesses::{Moved, Taken};

use crate::machine::Program;
use crate::machine::lanes::Lanes;
use crate::ptx::site::Site;
use crate::ptx::text;

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

/// How often the instructions of a [program](Program) were executed by launches: see [`Program::lines`] and [`Program::accesses`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Threads that executed each instruction.
    threads: Vec<u64>,
    accesses: HashMap<(u32, Moved), Taken>,
}

impl Counts {
    /// Of a program with so many instructions.
    pub(crate) fn new(counting: Counting, instructions: usize) -> Counts {
        let threads = if counting == Counting::Nothing { Vec::new() } else { vec![0; instructions] };
        Counts { threads, ..Counts::default() }
    }

    /// So many threads execute an instruction.
    #[inline]
    pub(crate) fn execute(&mut self, site: u32, threads: u32) {
        if let Some(count) = self.threads.get_mut(site as usize) {
            *count += u64::from(threads);
        }
    }

    /// Some lanes of a warp access memory, so many bytes each.
    pub(crate) fn access(&mut self, site: u32, mask: u32, addresses: &Lanes, bytes: usize) {
        if let Some((moved, taken)) = accesses::taken(mask, addresses, bytes) {
            let site = site % self.threads.len().max(1) as u32;
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

/// A line of the source, and how many threads executed it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CountedLine {
    /// The file, as the PTX names it.
    pub file: String,
    /// The number of the line.
    pub line: u32,
    /// How many threads executed the instruction of this line that the most threads executed.
    pub threads: u64,
}

/// What the accesses of an instruction took, with others of the same line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CountedAccess {
    /// Its function.
    pub function: String,
    /// The line of the PTX: of several, the first one.
    pub ptx_line: u32,
    /// The lines of the source, the innermost first; none if the PTX has no `.loc`.
    pub source: Vec<(String, u32)>,
    /// The opcode, with all its words.
    pub opcode: String,
    /// What it moves.
    pub moved: Moved,
    /// How much that is.
    pub taken: Taken,
}

impl Program {
    /// Every line of the source that has an instruction, in the order of files and lines, and how many threads executed it. A call that the
    /// compiler has inlined counts as executed if something of the function was. There is none if the PTX has no lines (`.loc`).
    pub fn lines(&self, counts: &Counts) -> Vec<CountedLine> {
        let mut lines = BTreeMap::new();
        for (at, site) in self.sites.iter().enumerate() {
            let threads = counts.threads.get(at).copied().unwrap_or_default();
            for line in site.shown() {
                let most = lines.entry(line).or_insert(threads);
                *most = threads.max(*most);
            }
        }
        lines.into_iter().map(|((file, line), threads)| CountedLine { file, line, threads }).collect()
    }

    /// The same of the lines of the PTX itself, which `file` has.
    pub fn ptx_lines(&self, counts: &Counts, file: &str) -> Vec<CountedLine> {
        let line = |(at, site): (usize, &Site)| CountedLine {
            file: file.to_owned(),
            line: site.line,
            threads: counts.threads.get(at).copied().unwrap_or_default(),
        };
        self.sites.iter().enumerate().map(line).collect()
    }

    /// What loads, stores and copies of global and of shared memory took: those of a line with the same opcode together, as a loop that the
    /// compiler has unrolled has several.
    pub fn accesses(&self, counts: &Counts) -> Vec<CountedAccess> {
        let mut found: BTreeMap<_, CountedAccess> = BTreeMap::new();
        for ((site, moved), taken) in &counts.accesses {
            let site = &self.sites[*site as usize];
            let (opcode, _) = text::opcode(text::guarded(&site.text).1);
            let source: Vec<(String, u32)> = site.shown().collect();
            let ptx_line = if source.is_empty() { site.line } else { 0 };
            let key = (site.function.clone(), ptx_line, source.clone(), opcode.to_owned(), *moved);
            let access = found.entry(key).or_insert_with(|| CountedAccess {
                function: site.function.clone(),
                ptx_line: site.line,
                source,
                opcode: opcode.to_owned(),
                moved: *moved,
                taken: Taken::default(),
            });
            access.ptx_line = access.ptx_line.min(site.line);
            access.taken.add(*taken);
        }
        found.into_values().collect()
    }
}
