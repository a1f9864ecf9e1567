//! What the assembler accepts and the types refuse: why, for each.

use std::sync::LazyLock;

use regex::RegexSet;

/// Reasons, each above its patterns.
const TEXT: &str = include_str!("ptxas-alone.txt");

/// A reason to refuse what the assembler accepts, and the spellings that it is a reason for.
#[derive(Debug)]
pub struct Reason {
    /// In words.
    pub why: String,
    patterns: RegexSet,
}

/// Every reason.
pub static REASONS: LazyLock<Vec<Reason>> = LazyLock::new(|| read(TEXT));

fn read(text: &str) -> Vec<Reason> {
    let blocks = text.split("\n\n").map(str::trim_end).filter(|block| !block.is_empty());
    blocks
        .map(|block| {
            let (patterns, why): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with(' '));
            let patterns = patterns.iter().map(|pattern| pattern.trim());
            Reason {
                why: why.join(" "),
                patterns: RegexSet::new(patterns).expect("the patterns of ptxas-alone.txt are valid"),
            }
        })
        .collect()
}

/// The first reason for a spelling, as [`Spelling`](super::grammar::Spelling) prints it.
pub fn reason(spelling: &str) -> Option<usize> {
    REASONS.iter().position(|reason| reason.patterns.is_match(spelling))
}
