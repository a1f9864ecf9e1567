//! Where in a function the values of its registers may matter, and which ones it may read before it has written them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What an instruction does with registers, by their numbers, and which instructions may come after it.
#[derive(Default)]
pub(crate) struct Flow {
    pub(crate) reads: Vec<usize>,
    /// Those that it writes in any case.
    pub(crate) writes: Vec<usize>,
    /// All that it names.
    pub(crate) names: Vec<usize>,
    pub(crate) next: Vec<usize>,
}

/// What is known of a function's registers.
pub(crate) struct Live {
    /// Those that some way through it reads before it writes them, from the lowest number on.
    pub(crate) read_first: Vec<usize>,
    /// Of each number, if a register has it, the first and the last line at which its value may matter, or at which it may get another one.
    pub(crate) spans: Vec<Option<Span>>,
}

/// The first line, and the last one.
pub(crate) type Span = (usize, usize);

/// Registers that are looked at together: a bit for each.
const TOGETHER: usize = 64;

/// What a block does first with a register.
struct First {
    register: usize,
    block: usize,
    is_read: bool,
}

impl Live {
    pub(crate) fn of(lines: &[Flow]) -> Live {
        let mut all = Live { read_first: Vec::new(), spans: Vec::new() };
        for (at, line) in lines.iter().enumerate() {
            line.names.iter().for_each(|register| all.extend(*register, at));
        }
        let blocks = blocks(lines);
        let numbers: HashMap<usize, usize> =
            blocks.iter().enumerate().map(|(number, lines)| (lines.start, number)).collect();
        let next: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| lines[block.end - 1].next.iter().filter_map(|line| numbers.get(line).copied()).collect())
            .collect();
        let mut first: Vec<First> =
            blocks.iter().enumerate().flat_map(|(number, own)| first(number, &lines[own.clone()])).collect();
        first.sort_by_key(|first| (first.register, first.block));
        // What is written before it is read wherever it is read needs no look at other blocks.
        let matters = |own: &&[First]| own.iter().any(|first| first.is_read);
        let registers: Vec<&[First]> =
            first.chunk_by(|one, other| one.register == other.register).filter(matters).collect();
        registers.chunks(TOGETHER).for_each(|together| all.follow(together, &blocks, &next));
        all
    }

    /// What some registers hold matters at a line.
    fn extend(&mut self, register: usize, line: usize) {
        if register >= self.spans.len() {
            self.spans.resize(register + 1, None);
        }
        let (first, last) = self.spans[register].get_or_insert((line, line));
        (*first, *last) = (line.min(*first), line.max(*last));
    }

    /// Some registers matter from block to block.
    fn follow(&mut self, together: &[&[First]], blocks: &[Range<usize>], next: &[Vec<usize>]) {
        let live = live(together, next);
        let registers = |set: u64| (0..together.len()).filter(move |bit| set >> bit & 1 == 1);
        for (number, block) in blocks.iter().enumerate() {
            let behind = next[number].iter().fold(0, |all, next| all | live[*next]);
            for (set, line) in [(live[number], block.start), (behind, block.end - 1)] {
                registers(set).for_each(|bit| self.extend(together[bit][0].register, line));
            }
        }
        let begin = live.first().copied().unwrap_or(0);
        self.read_first.extend(registers(begin).map(|bit| together[bit][0].register));
    }
}

/// The lines of each block: nothing but its last one goes on elsewhere than behind itself, and nothing goes to others than its first.
fn blocks(lines: &[Flow]) -> Vec<Range<usize>> {
    let is_plain = |at: usize| lines[at].next == [at + 1];
    let mut begins: Vec<usize> = (0..lines.len())
        .filter(|at| !is_plain(*at))
        .flat_map(|at| lines[at].next.iter().copied().chain([at + 1]))
        .chain([0])
        .filter(|at| *at < lines.len())
        .collect();
    begins.sort_unstable();
    begins.dedup();
    let ends = begins.iter().skip(1).copied().chain([lines.len()]);
    begins.iter().zip(ends).filter(|(begin, end)| *begin < end).map(|(begin, end)| *begin..end).collect()
}

fn first(block: usize, lines: &[Flow]) -> Vec<First> {
    let (mut seen, mut all) = (HashSet::new(), Vec::new());
    for line in lines {
        let reads = line.reads.iter().map(|register| (*register, true));
        for (register, is_read) in reads.chain(line.writes.iter().map(|register| (*register, false))) {
            if seen.insert(register) {
                all.push(First { register, block, is_read });
            }
        }
    }
    all
}

/// Of some registers, for each block, those whose values matter when it begins.
fn live(together: &[&[First]], next: &[Vec<usize>]) -> Vec<u64> {
    let (mut reads, mut writes) = (vec![0u64; next.len()], vec![0u64; next.len()]);
    for (bit, first) in together.iter().enumerate().flat_map(|(bit, own)| own.iter().map(move |first| (bit, first))) {
        let set = if first.is_read { &mut reads } else { &mut writes };
        set[first.block] |= 1 << bit;
    }
    let mut live = reads;
    loop {
        let mut changed = false;
        for block in (0..next.len()).rev() {
            let behind = next[block].iter().fold(0, |all, next| all | live[*next]);
            let now = live[block] | behind & !writes[block];
            changed |= now != live[block];
            live[block] = now;
        }
        if !changed {
            return live;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers that a line reads and writes, and the lines behind it.
    fn lines(all: &[(&[usize], &[usize], &[usize])]) -> Vec<Flow> {
        let flow = |(reads, writes, next): &(&[usize], &[usize], &[usize])| Flow {
            reads: reads.to_vec(),
            writes: writes.to_vec(),
            names: [reads, writes].map(|all| all.to_vec()).concat(),
            next: next.to_vec(),
        };
        all.iter().map(flow).collect()
    }

    #[test]
    fn what_is_read_first() {
        // Both ways write 1, one of them writes 2, a loop writes 3 before it reads it in the next turn, and 4 adds to itself.
        let all = lines(&[
            (&[], &[9], &[1]),
            (&[9], &[], &[2, 4]),
            (&[], &[1, 2], &[3]),
            (&[], &[], &[5]),
            (&[], &[1], &[5]),
            (&[1, 2], &[3], &[6]),
            (&[4], &[4], &[7]),
            (&[3, 9], &[], &[5, 8]),
            (&[], &[], &[]),
        ]);
        let live = Live::of(&all);
        assert_eq!(live.read_first, [2, 4]);
        // What a loop reads matters up to its end.
        let spans = [(1, (2, 7)), (2, (0, 7)), (3, (5, 7)), (4, (0, 7)), (9, (0, 7))];
        let found = live.spans.iter().enumerate().filter_map(|(register, span)| Some((register, (*span)?)));
        assert!(found.eq(spans));
        assert!(Live::of(&[]).read_first.is_empty());
    }

    #[test]
    fn many_registers_are_read_first() {
        let all: Vec<usize> = (0..200).collect();
        assert_eq!(Live::of(&lines(&[(&[], &[], &[1]), (&all, &[], &[])])).read_first, all);
    }
}
