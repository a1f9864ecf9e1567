//! In which order threads come to the instructions of a function.

use crate::machine::Line;

/// The order of a function's instructions, and its loops.
pub(crate) struct Order {
    next: Vec<Vec<usize>>,
    /// Of each instruction its place in the order. In a loop it is that of one turn.
    ranks: Vec<usize>,
    /// The first and the last place of each loop.
    loops: Vec<(usize, usize)>,
}

impl Order {
    pub(crate) fn new(lines: &[Line]) -> Order {
        let count = lines.len();
        let next = lines.iter().enumerate().map(|(at, line)| {
            let mut next: Vec<usize> = line.next(at).into_iter().filter(|next| *next < count).collect();
            // What is last in the text comes last, so it is looked at first.
            next.sort_unstable_by(|one, other| other.cmp(one));
            next
        });
        let next: Vec<Vec<usize>> = next.collect();
        let ranks = ranks(&next);
        let mut loops: Vec<(usize, usize)> = Vec::new();
        for (at, next) in next.iter().enumerate().flat_map(|(at, all)| all.iter().map(move |next| (at, *next))) {
            let (first, last) = (ranks[next], ranks[at]);
            match loops.iter_mut().find(|(known, _)| *known == first) {
                _ if last < first => {}
                Some(known) => known.1 = known.1.max(last),
                None => loops.push((first, last)),
            }
        }
        Order { next, ranks, loops }
    }

    pub(crate) fn rank(&self, at: usize) -> usize {
        self.ranks[at]
    }

    /// Whether a thread may come from one instruction to another one in the same turn of every loop.
    pub(crate) fn leads(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.next.len()];
        let mut left = vec![from];
        while let Some(at) = left.pop() {
            if at == to {
                return true;
            }
            let last = self.ranks[to];
            for next in self.next[at].iter().copied() {
                let is_on_the_way = self.ranks[next] > self.ranks[at] && self.ranks[next] <= last;
                if is_on_the_way && !std::mem::replace(&mut seen[next], true) {
                    left.push(next);
                }
            }
        }
        false
    }

    /// The first and the last place of the smallest loop that has two places.
    pub(crate) fn turn(&self, one: usize, other: usize) -> Option<(usize, usize)> {
        let both = self.loops.iter().filter(|(first, last)| [one, other].iter().all(|at| (first..=last).contains(&at)));
        both.min_by_key(|(first, last)| last - first).copied()
    }
}

/// Each instruction before those that come after it, but for the way back in a loop. What is not reached is at the end.
fn ranks(next: &[Vec<usize>]) -> Vec<usize> {
    let count = next.len();
    let (mut ranks, mut rank) = ((count..2 * count).collect::<Vec<_>>(), count);
    let mut seen = vec![false; count];
    let mut open: Vec<(usize, usize)> = (count > 0).then_some((0, 0)).into_iter().collect();
    seen.iter_mut().take(1).for_each(|first| *first = true);
    while let Some((at, looked)) = open.last_mut() {
        match next[*at].get(*looked) {
            Some(after) => {
                *looked += 1;
                if !std::mem::replace(&mut seen[*after], true) {
                    open.push((*after, 0));
                }
            }
            None => {
                rank -= 1;
                ranks[*at] = rank;
                open.pop();
            }
        }
    }
    ranks
}
