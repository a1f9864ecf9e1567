//! Which accesses have to go another way than the usual one, so that something goes wrong.

use std::ops::Range;

/// Runs for one order, at most.
const EACH: usize = 48;

/// The fewest of so many, by their numbers, of which none can be left out: `leaves` says whether some alone leave the same. All of them
/// do, and none of them does not. There are at most so many `runs`.
pub(super) fn needed<E>(
    count: u64,
    runs: &mut usize,
    leaves: &mut impl FnMut(&[u64]) -> Result<bool, E>,
) -> Result<Vec<u64>, E> {
    let (mut none, mut all) = (0, count);
    let (mut tried, budget) = (0, EACH.min(*runs));
    while all - none > 1 && tried < budget {
        let half = none + (all - none) / 2;
        let some: Vec<u64> = (0..half).collect();
        tried += 1;
        match leaves(&some)? {
            true => all = half,
            false => none = half,
        }
    }
    // The last one cannot be left out.
    let mut kept: Vec<u64> = (0..all).collect();
    let mut size = (kept.len() / 2).max(1);
    while tried < budget {
        let mut end = kept.len().saturating_sub(1);
        while end > 0 && tried < budget {
            let out = end.saturating_sub(size)..end;
            end = out.start;
            let some = without(&kept, out);
            tried += 1;
            if leaves(&some)? {
                kept = some;
            }
        }
        if size == 1 {
            break;
        }
        size /= 2;
    }
    *runs -= tried;
    Ok(kept)
}

fn without(all: &[u64], out: Range<usize>) -> Vec<u64> {
    [&all[..out.start], &all[out.end..]].concat()
}
