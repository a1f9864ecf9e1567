//! How a launch uses memory.

use super::actor::Actor;

/// What a launch has used of the memory that it was given.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Where, in the order of the addresses for each kind of use.
    pub ranges: Vec<UsedRange>,
    /// Whether threads have released something to the whole GPU.
    pub releases: bool,
    /// Whether threads have acquired something from the whole GPU.
    pub acquires: bool,
    /// Whether threads have let the next grid begin: `griddepcontrol.launch_dependents`.
    pub launches_dependents: bool,
    /// Of a launch on several GPUs: a grid, and one whose beginning comes before its end.
    pub follows: Vec<(usize, usize)>,
    /// What is used before `griddepcontrol.wait`, if the grid before this one [may still run](crate::Launch::begins_early). The
    /// ranges of an instruction follow each other.
    pub early: Vec<UsedRange>,
    /// Bytes that it has written and that have no values all the same, because what it has stored there was undefined: where they begin
    /// and end.
    pub undefined: Vec<(u64, u64)>,
}

impl Used {
    /// Ranges that are told, at most. Of more, those of the highest addresses are missing.
    pub(super) const RANGES: usize = 1 << 20;

    /// Where the launch has written, if all of that is told.
    pub fn writes(&self) -> Option<impl Iterator<Item = (u64, u64)>> {
        let are_all = !self.ranges.is_empty() && self.ranges.len() < Used::RANGES;
        let writes = self.ranges.iter().filter(|range| range.how.writes());
        are_all.then(|| writes.map(|range| (range.begin, range.end)))
    }
}

/// How bytes are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// They are read.
    Reads,
    /// They are written.
    Writes,
    /// They are read by a strong access of the scope of the GPU or the system.
    ReadsStrongly,
    /// The same, and they are written: by an atomic, for example.
    WritesStrongly,
}

/// Bytes that threads have used by one instruction.
#[derive(Clone, Copy, Debug)]
pub struct UsedRange {
    /// The first address.
    pub begin: u64,
    /// The address behind the last one.
    pub end: u64,
    /// How the bytes are used.
    pub how: Use,
    /// Whether that comes before whatever a grid does that `griddepcontrol.launch_dependents` lets begin, or that this one launches.
    pub shown: bool,
    /// Whether that comes before a release for the whole system, after which a strong access may tell the host of it.
    pub told: bool,
    /// Of a launch on several GPUs: whose grid it is, among the launch and its peers, and a bit for each of them that has not ended before
    /// that.
    pub grid: usize,
    /// See there.
    pub met: u32,
    /// A thread that has used the first ones, and its instruction.
    pub(crate) by: (Actor, u32),
    /// The calls that led there: the number of a path of the program.
    pub(crate) path: u32,
}

impl UsedRange {
    /// Whether one instruction has used both.
    pub fn has_instruction_of(&self, other: &UsedRange) -> bool {
        self.by.1 == other.by.1
    }
}

impl Use {
    /// Whether bytes are written.
    pub fn writes(self) -> bool {
        matches!(self, Use::Writes | Use::WritesStrongly)
    }

    /// Whether two uses of the same bytes have to be ordered. Strong ones need not be, nor two reads.
    pub fn conflicts_with(self, other: Use) -> bool {
        let is_strong = |how: Use| matches!(how, Use::ReadsStrongly | Use::WritesStrongly);
        (self.writes() || other.writes()) && !(is_strong(self) && is_strong(other))
    }

    /// Of an access that is strong for the whole GPU, or not.
    pub(super) fn of(is_strong: bool, writes: bool) -> Use {
        match (is_strong, writes) {
            (false, false) => Use::Reads,
            (false, true) => Use::Writes,
            (true, false) => Use::ReadsStrongly,
            (true, true) => Use::WritesStrongly,
        }
    }
}
