//! The loads of a kernel that are in flight, and launch bounds that may bring more of them there.

use std::collections::BTreeSet;

use crate::hot_loop::{hot_loop, moved};
use crate::in_flight::in_flight;
use crate::nvdisasm::SassInstruction;

/// The loads of a kernel's hot loop, or of all its code if it has no loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The addresses of these instructions.
    pub hot: BTreeSet<u64>,
    /// Whether they are a loop.
    pub has_loop: bool,
    /// The loads from global memory among them.
    pub loads: usize,
    /// The most loads that are in flight at once.
    pub in_flight: usize,
}

impl Flight {
    /// Of the code of a kernel.
    pub fn of(code: &[SassInstruction]) -> Self {
        let found = hot_loop(code);
        let has_loop = found.is_some();
        let hot = found.unwrap_or_else(|| code.iter().collect());
        let is_load = |one: &&&SassInstruction| ["LDG", "LD"].contains(&one.name()) && moved(one).is_some();
        Flight {
            has_loop,
            loads: hot.iter().filter(is_load).count(),
            in_flight: in_flight(&hot, has_loop),
            hot: hot.into_iter().map(|one| one.address).collect(),
        }
    }

    /// Whether more registers could bring more loads into flight.
    pub fn is_short(&self) -> bool {
        self.in_flight < self.loads
    }
}

/// The threads of a block that a kernel without bounds is tried with.
pub const THREADS: u32 = 256;

/// An entry of PTX without `.minnctapersm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unbound {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// The most threads of a block, by `.maxntid` or `.reqntid`.
    pub threads: Option<u32>,
}

/// The PTX where these entries have launch bounds: one block has to fit on a multiprocessor.
///
/// ```
/// use ptx_sass::flight::{Unbound, with_bounds};
///
/// let ptx = ".visible .entry k()\n{\nret;\n}\n";
/// let bound = with_bounds(ptx, &[Unbound { line: 1, threads: None }]);
/// assert_eq!(bound, ".visible .entry k()\n.maxntid 256 .minnctapersm 1\n{\nret;\n}\n");
/// ```
pub fn with_bounds(ptx: &str, entries: &[Unbound]) -> String {
    let mut lines: Vec<String> = ptx.lines().map(str::to_owned).collect();
    for entry in entries {
        let threads = if entry.threads.is_none() { format!(".maxntid {THREADS} ") } else { String::new() };
        let own = lines.iter_mut().skip(entry.line as usize - 1);
        let begins = |line: &&mut String| line.split("//").next().is_some_and(|code| code.contains('{'));
        if let Some(line) = own.into_iter().find(begins) {
            *line = line.replacen('{', &format!("{threads}.minnctapersm 1\n{{"), 1);
        }
    }
    lines.join("\n") + "\n"
}
