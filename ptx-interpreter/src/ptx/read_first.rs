//! Registers that a function may read before it has written them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What an instruction does with registers, by their numbers, and which instructions may come after it.
#[derive(Default)]
pub(crate) struct Flow {
    pub(crate) reads: Vec<usize>,
    /// Those that it writes in any case.
    pub(crate) writes: Vec<usize>,
    pub(crate) next: Vec<usize>,
}

/// Registers that are looked at together: a bit for each.
const TOGETHER: usize = 64;

/// What a block does first with a register.
struct First {
    register: usize,
    block: usize,
    is_read: bool,
}

/// The registers that some way through a function reads before it writes them.
pub(crate) fn read_first(lines: &[Flow]) -> Vec<usize> {
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
    // What the first block writes needs no look at the others.
    let matters = |own: &&[First]| own.iter().any(|first| first.is_read) && (own[0].block != 0 || own[0].is_read);
    let registers: Vec<&[First]> =
        first.chunk_by(|one, other| one.register == other.register).filter(matters).collect();
    registers.chunks(TOGETHER).flat_map(|together| live(together, &next)).collect()
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

/// Those of some registers that are read before they are written, from the first block on.
fn live(together: &[&[First]], next: &[Vec<usize>]) -> Vec<usize> {
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
            break;
        }
    }
    let first = live.first().copied().unwrap_or(0);
    together.iter().enumerate().filter(|(bit, _)| first >> bit & 1 == 1).map(|(_, own)| own[0].register).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers that a line reads and writes, and the lines behind it.
    fn lines(all: &[(&[usize], &[usize], &[usize])]) -> Vec<Flow> {
        let flow = |(reads, writes, next): &(&[usize], &[usize], &[usize])| Flow {
            reads: reads.to_vec(),
            writes: writes.to_vec(),
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
        assert_eq!(read_first(&all), [2, 4]);
        assert!(read_first(&[]).is_empty());
    }

    #[test]
    fn many_registers_are_read_first() {
        let all: Vec<usize> = (0..200).collect();
        assert_eq!(read_first(&lines(&[(&[], &[], &[1]), (&all, &[], &[])])), all);
    }
}
