//! What a kernel leaves in its buffers where loads return older values, compared with what it leaves where they do not.

use ptx_build::error::Result;
use ptx_interpreter::{Finding, Kind, Report, Trial};

/// Orders without older values, at least: what they leave is the same if it depends on no order.
pub(super) const STRONG: u64 = 8;
/// Loads that a finding names.
const NAMED: usize = 4;

/// Orders in which loads return the newest values.
pub(super) struct Newest {
    /// What all of them leave, or why that cannot be said.
    pub(super) left: std::result::Result<Outcome, &'static str>,
    /// Instructions of the longest that came to its end.
    pub(super) longest: Option<u64>,
}

impl Newest {
    pub(super) fn of(orders: impl Iterator<Item = Result<(Report, Outcome)>>) -> Result<Newest> {
        let (mut left, mut longest) = (Err("there is no order without older values"), None);
        for order in orders {
            let (report, outcome) = order?;
            if report.findings.iter().any(Finding::is_late) {
                return Ok(Newest { left: Err("the deadline cut off an order without older values"), longest });
            }
            longest = longest.max(Some(report.instructions));
            if !report.is_clean() {
                return Ok(Newest { left: Err("something is wrong without older values too"), longest });
            }
            if left.as_ref().is_ok_and(|left| *left != outcome) {
                return Ok(Newest { left: Err("orders without older values leave different bytes"), longest });
            }
            left = Ok(outcome);
        }
        Ok(Newest { left, longest })
    }
}

/// The bytes of each buffer in the end.
#[derive(PartialEq, Eq)]
pub(super) struct Outcome(Vec<Vec<u8>>);

impl Outcome {
    pub(super) fn of(trial: &Trial<'_>, arguments: usize) -> Outcome {
        Outcome((0..arguments).map(|argument| trial.content(argument).to_vec()).collect())
    }

    /// That an older value changes what the kernel leaves. `self` is what all orders leave without older values.
    pub(super) fn differs(&self, weak: &Outcome, report: &Report) -> Option<Finding> {
        let pairs = self.0.iter().zip(&weak.0).enumerate();
        let (argument, at) = pairs
            .filter_map(|(argument, (strong, weak))| {
                Some((argument, strong.iter().zip(weak).position(|(strong, weak)| strong != weak)?))
            })
            .next()?;
        // A word says more than a byte.
        let begin = at & !3;
        let word = |outcome: &Outcome| {
            let bytes = outcome.0[argument][begin..].iter().take(4);
            bytes.rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        Some(Finding {
            kind: Kind::Order,
            title: "older values, which the memory model lets loads return, change what the kernel leaves".into(),
            places: report.older.iter().take(NAMED).cloned().collect(),
            notes: vec![format!(
                "argument {argument} has {:#x} at byte {begin} instead of {:#x}, which every order leaves there if loads return \
                 the newest values",
                word(weak),
                word(self)
            )],
            help: "order what was written before this load: release it with the flag (`st.release`, or a fence before the flag), \
                   and acquire it where the flag is read (`ld.acquire`, or a fence after it)"
                .into(),
            times: 1,
        })
    }
}
