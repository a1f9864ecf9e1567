//! What a launch leaves where loads return older values, compared with what it leaves where they do not.

use crate::check::{Finding, Kind};
use crate::report::Report;

/// Loads that a finding names.
const NAMED: usize = 4;

/// What orders of a launch's threads leave in which loads return the newest values: pieces of memory, the same of each.
#[derive(Clone, Debug, Default)]
pub struct Newest {
    left: Option<Vec<Vec<u8>>>,
    why_not: Option<&'static str>,
    longest: Option<u64>,
}

impl Newest {
    /// So many orders there should be: what they leave is the same if it depends on no order.
    pub const ORDERS: u64 = 8;

    /// Such an order has ended.
    pub fn add(&mut self, report: &Report, left: Vec<Vec<u8>>) {
        let is_late = report.findings.iter().any(Finding::is_late);
        let why_not = match &self.left {
            _ if is_late => Some("the deadline cut off an order without older values"),
            _ if !report.is_clean() => Some("something is wrong without older values too"),
            Some(other) if *other != left => Some("orders without older values leave different bytes"),
            _ => None,
        };
        if !is_late {
            self.longest = self.longest.max(Some(report.instructions));
        }
        self.why_not = self.why_not.or(why_not);
        self.left = Some(left);
    }

    /// Why what an order leaves cannot be compared with these, if it cannot.
    pub fn why_not(&self) -> Option<&'static str> {
        match &self.left {
            None => Some("there is no order without older values"),
            Some(_) => self.why_not,
        }
    }

    /// Instructions of the longest that came to its end.
    pub fn longest(&self) -> Option<u64> {
        self.longest
    }

    /// That older values change what the launch leaves. `name` says what messages call a piece of memory.
    pub fn differs(&self, report: &Report, left: &[Vec<u8>], name: impl Fn(usize) -> String) -> Option<Finding> {
        let newest = self.left.as_ref().filter(|_| self.why_not.is_none() && report.is_clean())?;
        let first = |(piece, (newest, left)): (usize, (&Vec<u8>, &Vec<u8>))| {
            Some((piece, newest.iter().zip(left).position(|(newest, left)| newest != left)?))
        };
        let (piece, at) = newest.iter().zip(left).enumerate().find_map(first)?;
        // A word says more than a byte.
        let begin = at & !3;
        let word = |all: &[Vec<u8>]| {
            let bytes = all[piece][begin..].iter().take(4);
            bytes.rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        Some(Finding {
            kind: Kind::Order,
            title: "older values, which the memory model lets loads return, change what the kernel leaves".into(),
            places: report.older.iter().take(NAMED).cloned().collect(),
            notes: vec![format!(
                "{} has {:#x} at byte {begin} instead of {:#x}, which every order leaves there if loads return the newest values",
                name(piece),
                word(left),
                word(newest)
            )],
            help: "order what was written before this load: release it with the flag (`st.release`, or a fence before the flag), \
                   and acquire it where the flag is read (`ld.acquire`, or a fence after it)"
                .into(),
            times: 1,
        })
    }
}
