//! Which accesses may count on it that the threads of a warp go on together.

use std::collections::HashSet;

use crate::machine::{Action, Code, Line};
use crate::ptx::site::Site;
use crate::ptx::text;

/// What a loop that only waits for others does not do.
const WORK: [&str; 9] = ["st", "atom", "red", "bar", "barrier", "mbarrier", "cp", "call", "shfl"];

/// Loads and stores by `volatile`, but for loads in loops that wait for what others store.
pub(crate) fn volatile<'c>(functions: impl Iterator<Item = &'c Code>, sites: &[Site]) -> HashSet<u32> {
    let text = |line: &Line| sites[line.site as usize].text.as_str();
    let works = |line: &Line| {
        let (opcode, _) = text::opcode(text::guarded(text(line)).1);
        opcode.split('.').next().is_some_and(|first| WORK.contains(&first))
    };
    let mut all = HashSet::new();
    for code in functions {
        let found = code.lines.iter().filter(|line| text(line).contains(".volatile"));
        let mut found: HashSet<u32> = found.map(|line| line.site).collect();
        if found.is_empty() {
            continue;
        }
        for (end, line) in code.lines.iter().enumerate() {
            let Action::Branch(begin) = line.action else { continue };
            if let Some(turn) = code.lines.get(begin..=end).filter(|turn| !turn.iter().any(works)) {
                found.retain(|site| turn.iter().all(|line| line.site != *site));
            }
        }
        all.extend(found);
    }
    all
}
