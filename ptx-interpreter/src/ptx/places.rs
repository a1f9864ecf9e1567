//! Where the values of a function's registers are. A compiler gives each value a register of its own: thousands of them, of which few matter
//! at one time. These few have places, so that a warp's registers stay in the host's caches.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::ptx::live::Span;

/// The place of the carry.
pub(crate) const CARRY: usize = 0;

/// The place of each register, and how many there are. Two registers have one place only if no line matters to both. A wide one has two places,
/// and keeps them.
pub(crate) fn places(spans: &[Option<Span>], is_wide: impl Fn(usize) -> bool) -> (HashMap<usize, usize>, usize) {
    let spans = spans.iter().enumerate();
    let mut spans: Vec<(Span, usize)> = spans.filter_map(|(register, span)| Some(((*span)?, register))).collect();
    spans.sort_unstable();
    let (mut places, mut taken) = (HashMap::new(), CARRY + 1);
    let (mut free, mut ends): (Vec<usize>, BinaryHeap<Reverse<(usize, usize)>>) = Default::default();
    for ((first, last), register) in spans {
        while ends.peek().is_some_and(|Reverse((end, _))| *end < first) {
            free.extend(ends.pop().map(|Reverse((_, place))| place));
        }
        let mut new = |count| {
            taken += count;
            taken - count
        };
        let place = if is_wide(register) { new(2) } else { free.pop().unwrap_or_else(|| new(1)) };
        if !is_wide(register) {
            ends.push(Reverse((last, place)));
        }
        places.insert(register, place);
    }
    (places, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_again() {
        let spans = [Some((0, 3)), Some((1, 2)), Some((3, 5)), Some((4, 9)), None, Some((4, 4)), Some((5, 5))];
        let (places, count) = places(&spans, |register| register == 3);
        // 2 begins where 0 ends, which one instruction may read and write. 3 is wide.
        let expected = HashMap::from([(0, 1), (1, 2), (2, 2), (5, 1), (3, 3), (6, 1)]);
        assert_eq!((places, count), (expected, 5));
    }
}
