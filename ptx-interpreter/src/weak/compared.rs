//! What a launch leaves where loads return older values, compared with what it leaves where they do not.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::check::{Finding, Kind, OLDER};
use crate::machine::launch::Delays;
use crate::memory::overwritten::Left;
use crate::report::Report;
use crate::weak::needed::needed;

/// Places that a finding names.
const NAMED: usize = 4;
/// Orders in which loads return the newest values, before anything is said of others.
const ENOUGH: u64 = 64;
/// A piece of memory with more words that depend on the order is not compared.
const WORDS: usize = 1 << 12;
/// Runs of a launch by which it is found what a difference needs.
const RUNS: usize = 1 << 10;

/// An order of a launch's threads, and of their accesses.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// What makes it.
    pub seed: u64,
    /// When accesses happen.
    pub delays: Delays,
    /// Which go another way than the usual one: see [`Launch::only`](crate::Launch::only).
    pub only: Option<&'a [u64]>,
}

impl Order<'_> {
    /// Those in which loads return the newest values. In every other one threads wait for loads that are late.
    pub fn newest(seed: u64, number: u64) -> Order<'static> {
        let (delays, only): (_, Option<&[u64]>) = match number.is_multiple_of(2) {
            true => (Delays::None, None),
            false => (Delays::Loads, Some(&[])),
        };
        Order { seed: seed.wrapping_add(number), delays, only }
    }

    /// One in which loads return older values, too.
    pub fn weak(seed: u64) -> Order<'static> {
        Order { seed, delays: Delays::Loads, only: None }
    }
}

/// A launch that can be run again, and the memory that it leaves something in.
pub trait Again {
    /// Why it cannot be run.
    type Error;

    /// Runs it in an order, from where it began.
    fn run(&mut self, order: &Order<'_>) -> Result<(Report, Left), Self::Error>;

    /// What was at an address before.
    fn before(&self, address: u64) -> u8;

    /// What messages call the memory that an address is in, and where that is.
    fn piece(&self, address: u64) -> (Arc<str>, Range<u64>);
}

/// What orders of a launch's threads leave in which loads return the newest values.
///
/// Words that some of these orders leave otherwise are compared with nothing. The other words of the same piece of memory are compared
/// if the later half of these orders has shown no further such word.
#[derive(Debug)]
pub struct Newest {
    seed: u64,
    orders: u64,
    first: Option<Left>,
    /// By where the pieces begin.
    free: BTreeMap<u64, Free>,
    why_not: Option<&'static str>,
    longest: Option<u64>,
    runs: usize,
}

/// What depends on the order of threads in a piece of memory.
#[derive(Debug)]
struct Free {
    name: Arc<str>,
    words: BTreeSet<u64>,
    /// The order that has shown the last one of them.
    last: u64,
}

impl Newest {
    /// So many orders there should be at least.
    pub const ORDERS: u64 = 8;

    /// Of a launch whose first order has this seed.
    pub fn new(seed: u64) -> Newest {
        Newest { seed, orders: 0, first: None, free: BTreeMap::new(), why_not: None, longest: None, runs: RUNS }
    }

    /// Such an order has ended.
    pub fn add(&mut self, report: &Report, left: Left, launch: &impl Again) {
        let is_late = report.findings.iter().any(Finding::is_late);
        let why_not = match () {
            _ if is_late => Some("the deadline cut off an order without older values"),
            _ if !report.is_clean() => Some("something is wrong without older values too"),
            _ => None,
        };
        if !is_late {
            self.longest = self.longest.max(Some(report.instructions));
        }
        self.why_not = self.why_not.or(why_not);
        let Some(first) = &self.first else {
            self.first = Some(left);
            self.orders = 1;
            return;
        };
        for word in first.words_other_than(&left) {
            let (name, range) = launch.piece(word);
            let free = self.free.entry(range.start).or_insert(Free { name, words: BTreeSet::new(), last: 0 });
            if free.words.len() <= WORDS && free.words.insert(word) {
                free.last = self.orders;
            }
        }
        self.orders += 1;
    }

    /// Why what an order leaves cannot be compared with these, if it cannot.
    pub fn why_not(&self) -> Option<&'static str> {
        match &self.first {
            None => Some("there is no order without older values"),
            Some(_) => self.why_not,
        }
    }

    /// What of that which orders leave is compared with nothing, and why.
    pub fn uncompared(&self) -> Option<String> {
        if let Some(why) = self.why_not() {
            return Some(format!("what it leaves is compared with nothing: {why}"));
        }
        let names: Vec<&str> = self.free.values().map(|free| &*free.name).take(NAMED).collect();
        let text = || format!("words of {} that depend on the order of threads are not compared", names.join(", "));
        (!names.is_empty()).then(text)
    }

    /// Instructions of the longest that came to its end.
    pub fn longest(&self) -> Option<u64> {
        self.longest
    }

    /// The first word that an order leaves otherwise than all of these. With `all`, also where the others of its piece say little.
    fn differs(&self, left: &Left, launch: &impl Again, all: bool) -> Option<u64> {
        let is_compared = |word: &u64| {
            let Some(free) = self.free.get(&launch.piece(*word).1.start) else { return true };
            let is_settled = all || free.last <= self.orders / 2;
            free.words.len() <= WORDS && is_settled && !free.words.contains(word)
        };
        self.first.as_ref()?.words_other_than(left).find(is_compared)
    }

    /// That older values change what the launch leaves, if an order with them has left something else. Before that is said, there are more
    /// orders without them: what goes wrong in one of these is given, too.
    pub fn judge<A: Again>(
        &mut self,
        order: &Order<'_>,
        (report, left): (&Report, Left),
        launch: &mut A,
    ) -> Result<Vec<Finding>, A::Error> {
        if self.why_not().is_some() || !report.is_clean() || self.differs(&left, launch, true).is_none() {
            return Ok(Vec::new());
        }
        while self.orders < ENOUGH {
            let (report, left) = launch.run(&Order::newest(self.seed, self.orders))?;
            self.add(&report, left, launch);
            if self.why_not.is_some() {
                return Ok(report.findings);
            }
        }
        if self.differs(&left, launch, false).is_none() {
            return Ok(Vec::new());
        }
        // Without the other ways it is an order as the others.
        let (usual, own) = launch.run(&Order { only: Some(&[]), ..*order })?;
        self.add(&usual, own, launch);
        if self.differs(&left, launch, false).is_none() {
            return Ok(usual.findings);
        }
        let mut shown = (report.older.clone(), left);
        let mut leaves = |only: &[u64]| {
            let (report, left) = launch.run(&Order { only: Some(only), ..*order })?;
            let differs = report.is_clean() && self.differs(&left, launch, false).is_some();
            if differs {
                shown = (report.older, left);
            }
            Ok(differs)
        };
        let mut runs = self.runs;
        needed(report.deviations, &mut runs, &mut leaves)?;
        self.runs = runs;
        Ok(self.differs(&shown.1, launch, false).map(|word| self.finding(word, shown, launch)).into_iter().collect())
    }

    fn finding(&self, word: u64, (mut places, left): (Vec<crate::Place>, Left), launch: &impl Again) -> Finding {
        let (name, range) = launch.piece(word);
        let has = |left: Option<&Left>| {
            let at = |address: u64| left.and_then(|left| left.at(address)).unwrap_or_else(|| launch.before(address));
            let bytes = (word..range.end).take(4).enumerate();
            bytes.fold(0, |number, (at_byte, address)| number | u32::from(at(address)) << (8 * at_byte))
        };
        let (at, newest, left) = (word - range.start, has(self.first.as_ref()), has(Some(&left)));
        places.truncate(NAMED);
        Finding {
            kind: Kind::Order,
            title: OLDER.into(),
            places,
            notes: vec![format!(
                "{name} has {left:#x} at byte {at} instead of {newest:#x}, which every order leaves there if loads return the newest values"
            )],
            help: "order what was written before: release it with the flag (`st.release`, or a fence before the flag), and acquire it \
                   where the flag is read (`ld.acquire`, or a fence after it). Where threads store, and then load or store what the \
                   other one stores, only `fence.sc` (__threadfence()) between the two orders them, in each of these threads"
                .into(),
            times: 1,
            further: vec![],
        }
    }
}
