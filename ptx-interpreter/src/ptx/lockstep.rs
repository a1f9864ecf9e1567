//! Which accesses may count on it that the threads of a warp go on together.

use std::collections::HashSet;

use crate::machine::{Action, Code};
use crate::ptx::site::Site;
use crate::ptx::text;

/// What a loop that only waits for others does not do.
const WORK: [&str; 9] = ["st", "atom", "red", "bar", "barrier", "mbarrier", "cp", "call", "shfl"];

/// The words of an instruction's opcode.
fn words<'s>(sites: &'s [Site], site: u32) -> impl Iterator<Item = &'s str> {
    text::opcode(text::guarded(&sites[site as usize].text).1).0.split('.')
}

/// Loads and stores by `volatile`, but for loads in loops that wait for what others store.
pub(crate) fn volatile<'c>(functions: impl Iterator<Item = &'c Code>, sites: &[Site]) -> HashSet<u32> {
    let mut found = HashSet::new();
    for code in functions {
        let volatile =
            code.lines.iter().map(|line| line.site).filter(|site| words(sites, *site).any(|word| word == "volatile"));
        found.extend(volatile);
        for (end, line) in code.lines.iter().enumerate() {
            let Action::Branch(begin) = line.action else { continue };
            let Some(turn) = code.lines.get(begin..=end) else { continue };
            let works =
                turn.iter().any(|line| words(sites, line.site).next().is_some_and(|first| WORK.contains(&first)));
            if !works {
                found.retain(|site| !turn.iter().any(|line| line.site == *site));
            }
        }
    }
    found
}
