//! How many threads executed each line of a kernel's source, and what its accesses of memory took.

use std::collections::BTreeMap;

use crate::counts::{Counts, Moved, Taken};
use crate::machine::Program;
use crate::ptx::site::Site;
use crate::ptx::text;

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
            let threads = counts.threads(at);
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
            threads: counts.threads(at),
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
