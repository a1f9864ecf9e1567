//! Bytes to which nobody has written.

/// Ranges of an allocation, at most. If writes leave more of them, all its bytes count as written.
const RANGES: usize = 1 << 16;

/// The bytes of a piece of memory that have no values, because nobody has written them.
///
/// ```
/// use ptx_interpreter::Gaps;
///
/// let mut gaps = Gaps::all(4096, 8192);
/// gaps.write(4096, 5000);
/// assert_eq!(gaps.ranges(), [(5000, 8192)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Gaps(Vec<(u64, u64)>);

impl Gaps {
    /// All bytes from one address up to another.
    pub fn all(begin: u64, end: u64) -> Gaps {
        Gaps(vec![(begin, end)])
    }

    /// Some ranges, of which some may overlap.
    pub fn of(mut ranges: Vec<(u64, u64)>) -> Gaps {
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let meets = next.0 <= last.1;
            last.1 = if meets { last.1.max(next.1) } else { last.1 };
            meets
        });
        Gaps(ranges)
    }

    /// These bytes have no values either. They do count as written, if there are too many ranges.
    pub fn add(&mut self, ranges: &[(u64, u64)]) {
        if let [(begin, end)] = *ranges {
            return self.add_one(begin, end);
        }
        let all = Gaps::of(self.0.iter().chain(ranges).copied().collect());
        if all.0.len() <= RANGES {
            *self = all;
        }
    }

    fn add_one(&mut self, begin: u64, end: u64) {
        let met = self.0.partition_point(|(_, until)| *until < begin)..self.0.partition_point(|(from, _)| *from <= end);
        if self.0.len() < RANGES || !met.is_empty() {
            let all = self.0[met.clone()].iter().fold((begin, end), |all, own| (all.0.min(own.0), all.1.max(own.1)));
            self.0.splice(met, [all]);
        }
    }

    /// Whether every byte has been written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where each range begins and ends.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Whether some bytes of a range are among them.
    pub fn has_some_of(&self, begin: u64, end: u64) -> bool {
        self.0.get(self.behind(begin)).is_some_and(|(from, _)| *from < end)
    }

    /// What of a range is among them.
    pub fn within(&self, begin: u64, end: u64) -> Vec<(u64, u64)> {
        let from_here = self.0[self.behind(begin)..].iter().take_while(|(from, _)| *from < end);
        from_here.map(|(from, until)| (begin.max(*from), end.min(*until))).collect()
    }

    /// Somebody writes a range.
    pub fn write(&mut self, begin: u64, end: u64) {
        let (first, last) = (self.behind(begin), self.0.partition_point(|(from, _)| *from < end));
        if begin >= end || first >= last {
            return;
        }
        let rest = [(self.0[first].0, begin), (end, self.0[last - 1].1)];
        self.0.splice(first..last, rest.into_iter().filter(|(from, until)| from < until));
        if self.0.len() > RANGES {
            self.0.clear();
        }
    }

    /// The first range that ends behind an address.
    fn behind(&self, address: u64) -> usize {
        self.0.partition_point(|(_, until)| *until <= address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_no_write_has_touched() {
        let mut all = Gaps::all(10, 100);
        let left = |all: &Gaps| all.ranges().to_vec();
        all.write(0, 10);
        all.write(50, 50);
        assert_eq!(left(&all), [(10, 100)]);
        all.write(20, 30);
        all.write(40, 50);
        assert_eq!(left(&all), [(10, 20), (30, 40), (50, 100)]);
        assert!(all.has_some_of(0, 11) && all.has_some_of(29, 31) && all.has_some_of(99, 200));
        assert!(!all.has_some_of(0, 10) && !all.has_some_of(20, 30) && !all.has_some_of(100, 200));
        all.write(15, 60);
        assert_eq!(left(&all), [(10, 15), (60, 100)]);
        all.write(0, 200);
        assert!(all.is_empty());
    }

    #[test]
    fn what_is_added_is_there_once() {
        let mut all = Gaps::of(vec![(30, 40), (10, 20), (20, 25), (12, 18)]);
        assert_eq!(all.ranges(), [(10, 25), (30, 40)]);
        all.add(&[(38, 50), (5, 8)]);
        assert_eq!(all.ranges(), [(5, 8), (10, 25), (30, 50)]);
        for (range, expected) in
            [((26, 28), &[(5, 8), (10, 25), (26, 28), (30, 50)][..]), ((8, 26), &[(5, 28), (30, 50)])]
        {
            let mut more = all.clone();
            more.add(&[(26, 28)]);
            more.add(&[range]);
            assert_eq!(more.ranges(), expected);
        }
        assert_eq!(all.within(7, 31), [(7, 8), (10, 25), (30, 31)]);
        assert_eq!(all.within(8, 10), []);
    }

    #[test]
    fn too_many_ranges_are_none() {
        let mut all = Gaps::all(0, 1 << 20);
        (0..RANGES as u64).for_each(|at| all.write(at * 8 + 4, at * 8 + 8));
        assert!(all.is_empty());
    }
}
