//! The half hour on a GPU, in parts.

/// A part of the plan: what one command does, on a machine that need not be the one of the part before.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its stages, besides those of every run.
    pub stages: &'static [&'static str],
    /// How long all of it may take, in seconds.
    pub limit: u64,
}

/// The half hour on a GPU, whose machines may be taken away after ten minutes.
pub const PLAN: [Part; 3] = [
    Part { stages: &["forms", "litmus", "bandwidth"], limit: 490 },
    Part { stages: &["laboratory", "counters"], limit: 560 },
    Part { stages: &["workloads", "sanitizer", "forms-again", "faults"], limit: 550 },
];
