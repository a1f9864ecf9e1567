//! What several parts of a launch have used together.

use super::uses::{Used, UsedRange};

impl Used {
    /// What was used by parts of a launch, of which none writes what another one uses.
    pub(crate) fn merged(parts: impl IntoIterator<Item = Used>) -> Used {
        let mut all = Used::default();
        for part in parts {
            all.releases |= part.releases;
            all.acquires |= part.acquires;
            all.ranges.extend(part.ranges);
            all.undefined.extend(part.undefined);
        }
        all.ranges.sort_by_key(|range| (range.how, range.begin));
        let mut ranges: Vec<UsedRange> = Vec::with_capacity(all.ranges.len());
        for range in all.ranges {
            match ranges.last_mut().filter(|last| last.how == range.how && range.begin <= last.end) {
                Some(last) if range.end <= last.end => {}
                Some(last) if range.has_instruction_of(last) => last.end = range.end,
                Some(last) => {
                    let begin = last.end;
                    ranges.push(UsedRange { begin, ..range });
                }
                None => ranges.push(range),
            }
        }
        ranges.sort_by_key(|range| range.begin);
        ranges.truncate(Used::RANGES);
        Used { ranges, ..all }
    }
}
