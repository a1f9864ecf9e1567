//! How far the search of executions goes.

use std::fmt;

/// How far the search goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often a loop that writes is followed again. Loops that only read need no bound: coming back to a state in which
    /// it was before, a thread has done nothing.
    pub turns: usize,
    /// Ways through one thread.
    pub traces: usize,
    /// Candidate executions.
    pub candidates: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { turns: 2, traces: 20_000, candidates: 2_000_000 }
    }
}

/// Why a test was not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// A thread, or an execution, has more events.
    Events(usize),
    /// A thread has more ways through it.
    Traces(usize),
    /// There are more candidate executions.
    Candidates(u64),
}

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Events(limit) => write!(out, "more than {limit} events"),
            TooLarge::Traces(limit) => write!(out, "more than {limit} ways through a thread"),
            TooLarge::Candidates(limit) => write!(out, "more than {limit} candidate executions"),
        }
    }
}
