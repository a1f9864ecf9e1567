//! What a launch leaves where loads return older values, compared with what it leaves where they do not.

use std::ops::Range;
use std::sync::Arc;

use crate::check::{Finding, Kind};
use crate::memory::overwritten::Left;
use crate::report::Report;

/// Loads that a finding names.
const NAMED: usize = 4;

/// What orders of a launch's threads leave in which loads return the newest values: pieces of memory, the same of each, or what they
/// have changed.
#[derive(Clone, Debug)]
pub struct Newest<L = Vec<Vec<u8>>> {
    left: Option<L>,
    why_not: Option<&'static str>,
    longest: Option<u64>,
}

/// The first word that two orders leave otherwise.
struct Difference {
    /// What messages call the memory, and where the word is in it.
    name: String,
    at: u64,
    newest: u32,
    left: u32,
}

impl<L> Default for Newest<L> {
    fn default() -> Self {
        Newest { left: None, why_not: None, longest: None }
    }
}

impl<L: PartialEq> Newest<L> {
    /// So many orders there should be: what they leave is the same if it depends on no order.
    pub const ORDERS: u64 = 8;

    /// Such an order has ended.
    pub fn add(&mut self, report: &Report, left: L) {
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

    /// That older values change what the launch leaves, if there is a difference to the newest ones.
    fn finding(&self, report: &Report, difference: impl FnOnce(&L) -> Option<Difference>) -> Option<Finding> {
        let newest = self.left.as_ref().filter(|_| self.why_not.is_none() && report.is_clean())?;
        let Difference { name, at, newest, left } = difference(newest)?;
        Some(Finding {
            kind: Kind::Order,
            title: "older values, which the memory model lets loads return, change what the kernel leaves".into(),
            places: report.older.iter().take(NAMED).cloned().collect(),
            notes: vec![format!(
                "{name} has {left:#x} at byte {at} instead of {newest:#x}, which every order leaves there if loads return the newest values"
            )],
            help: "order what was written before this load: release it with the flag (`st.release`, or a fence before the flag), \
                   and acquire it where the flag is read (`ld.acquire`, or a fence after it)"
                .into(),
            times: 1,
        })
    }
}

impl Newest {
    /// That older values change what the launch leaves. `name` says what messages call a piece of memory.
    pub fn differs(&self, report: &Report, left: &[Vec<u8>], name: impl Fn(usize) -> String) -> Option<Finding> {
        self.finding(report, |newest| {
            let first =
                |(newest, left): (&Vec<u8>, &Vec<u8>)| newest.iter().zip(left).position(|(one, other)| one != other);
            let mut pieces = newest.iter().zip(left).enumerate();
            let (piece, at) = pieces.find_map(|(piece, both)| Some((piece, first(both)? & !3)))?;
            let [newest, left] = [newest, left].map(|all| word(all[piece][at..].iter().copied()));
            Some(Difference { name: name(piece), at: at as u64, newest, left })
        })
    }
}

impl Newest<Left> {
    /// The same. `before` says what was at an address before the launch, and `piece` what messages call the memory that an address is
    /// in, and where that is.
    pub fn differs(
        &self,
        report: &Report,
        left: &Left,
        before: impl Fn(u64) -> u8,
        piece: impl Fn(u64) -> (Arc<str>, Range<u64>),
    ) -> Option<Finding> {
        self.finding(report, |newest| {
            let address = newest.differs_from(left)?;
            let (name, range) = piece(address);
            let at = (address - range.start) & !3;
            let addresses = range.start + at..range.end;
            let of =
                |all: &Left| word(addresses.clone().map(|address| all.at(address).unwrap_or_else(|| before(address))));
            Some(Difference { name: name.to_string(), at, newest: of(newest), left: of(left) })
        })
    }
}

/// A word says more than a byte.
fn word(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.take(4).enumerate().fold(0, |word, (at, byte)| word | u32::from(byte) << (8 * at))
}
