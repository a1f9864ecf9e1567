//! What has to be closed to the host, or opened again.

use std::collections::HashSet;

use crate::guard::PAGE;

/// What was used since pages were last closed.
#[derive(Default)]
pub(crate) struct Recent {
    pub(crate) ranges: Vec<(u64, u64)>,
    /// How often the host had learnt of something when pages were last closed.
    pub(crate) learnt: u64,
    /// Where device memory begins that the host accesses too, which was told.
    pub(crate) for_both: HashSet<u64>,
}

impl Recent {
    /// The pages of what was used, and more, in their order, none twice. From now on nothing was used.
    pub(crate) fn pages(&mut self, more: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        let ranges = std::mem::take(&mut self.ranges).into_iter().chain(more);
        let mut ranges: Vec<_> = ranges.map(|(begin, end)| (begin & !(PAGE - 1), end.next_multiple_of(PAGE))).collect();
        ranges.sort_unstable();
        let mut pages: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in ranges {
            match pages.last_mut() {
                Some((_, last)) if *last >= begin => *last = end.max(*last),
                _ => pages.push((begin, end)),
            }
        }
        pages
    }
}
