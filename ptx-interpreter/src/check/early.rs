//! What threads use before they know that the grid before this one has ended. Under programmatic dependent launch that grid may
//! still run.
//!
//! PTX says that `griddepcontrol.wait` lets the executing thread wait, and that it makes what the grid before has done visible to
//! the whole grid. So a thread knows it after its own wait, and after whatever orders it behind another thread's wait: a barrier of
//! the block, a flag. What an asynchronous copy uses is used when its thread begins it.

use std::collections::BTreeMap;

use super::actor::Actor;
use super::uses::{Use, UsedRange};
use crate::memory::spaces::{Owner, owner};

/// Ranges that are remembered, at most. More are not looked at.
const RANGES: usize = 1 << 20;

/// Of each instruction and use the bytes, as far as they are outside of the grid.
#[derive(Default)]
pub(super) struct Early {
    by: BTreeMap<(u32, Use), Ranges>,
    count: usize,
    /// The newest, which may go on: threads of a warp mostly use bytes that are neighbours.
    newest: Option<(UsedBy, u64, u64)>,
}

/// An instruction, how it uses bytes, and the thread that uses the first ones.
type UsedBy = ((u32, Use), Actor);

/// Ranges that do not touch each other: where each begins, where it ends, and a thread that has used the first bytes.
#[derive(Default)]
struct Ranges(BTreeMap<u64, (u64, Actor)>);

impl Ranges {
    fn add(&mut self, mut begin: u64, mut end: u64, mut by: Actor) {
        if let Some((first, (last, other))) = self.0.range(..=begin).next_back()
            && *last >= begin
        {
            if *last >= end {
                return;
            }
            (begin, by) = (*first, *other);
        }
        while let Some((first, (last, _))) = self.0.range(begin..=end).next().map(|(at, value)| (*at, *value)) {
            end = end.max(last);
            self.0.remove(&first);
        }
        self.0.insert(begin, (end, by));
    }
}

impl Early {
    pub(super) fn add(&mut self, how: (u32, Use), begin: u64, bytes: usize, by: Actor) {
        if self.count >= RANGES || owner(begin, 1).0 != Owner::Outside {
            return;
        }
        let end = begin + bytes as u64;
        match &mut self.newest {
            Some(((own, _), _, last)) if *own == how && *last == begin => *last = end,
            _ => {
                self.settle();
                self.newest = Some(((how, by), begin, end));
            }
        }
    }

    /// The newest becomes one of the others.
    fn settle(&mut self) {
        let Some(((how, by), begin, end)) = self.newest.take() else { return };
        let ranges = self.by.entry(how).or_default();
        let before = ranges.0.len();
        ranges.add(begin, end, by);
        self.count = self.count + ranges.0.len() - before;
    }

    /// All of it, instruction by instruction.
    pub(super) fn ranges(&mut self) -> Vec<UsedRange> {
        self.settle();
        let ranges = self.by.iter().flat_map(|((site, how), ranges)| {
            let range = |(begin, (end, actor)): (&u64, &(u64, Actor))| UsedRange {
                begin: *begin,
                end: *end,
                how: *how,
                shown: false,
                grid: 0,
                met: 1,
                told: false,
                by: (*actor, *site),
                path: 0,
            };
            ranges.0.iter().map(range)
        });
        ranges.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let by = |number| Actor { block: 0, number };
        let mut ranges = Ranges::default();
        for (begin, end, number) in
            [(8, 12, 0), (0, 4, 1), (20, 24, 2), (9, 11, 3), (4, 8, 4), (18, 21, 5), (30, 31, 6)]
        {
            ranges.add(begin, end, by(number));
        }
        let all: Vec<_> = ranges.0.into_iter().collect();
        assert_eq!(all, [(0, (12, by(1))), (18, (24, by(5))), (30, (31, by(6)))]);
    }
}
