//! What a GPU measured, and what follows of it.

use lab::judge::{Finding, Paid, Results, judge_all, paid};

/// Results that are judged once: each interval takes thousands of draws.
#[derive(Debug)]
pub(super) struct Judged {
    /// What was measured.
    pub(super) results: Results,
    /// What became of each expectation.
    pub(super) findings: Vec<Finding>,
    /// When hints pay.
    pub(super) paid: Vec<Paid>,
}

impl Judged {
    pub(super) fn new(results: Results) -> Judged {
        let (findings, paid) = (judge_all(&results), paid(&results));
        Judged { results, findings, paid }
    }
}
