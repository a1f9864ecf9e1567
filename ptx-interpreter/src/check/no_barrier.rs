//! What is found about barriers in memory that are none, or none any more.

use super::actor::Actor;
use super::checks::{Checks, Event, Found, NONE};
use super::finding::Kind;
use super::mark::Mark;
use super::titles::{HANGS, UNORDERED_INIT};

/// The title of a use of what is no barrier.
const NO_BARRIER: &str = "a barrier is used that `mbarrier.init` has not initialised";

impl Checks {
    /// Where a barrier is initialised for the first time, if that races with a use of it: what is missing is one order, whatever uses it.
    pub(super) fn raced_init(&mut self, old: &Mark, event: Event) -> Option<u32> {
        let first = self.mbarriers.get(&event.address).map(|bar| bar.init.2);
        let init = match first {
            None if event.how.is_of_barrier && event.how.writes && !old.writes && old.scope > 0 => event.site,
            Some(first) if event.how.is_of_barrier && event.how.reads && self.are_one(first, old.site) => first,
            _ => return None,
        };
        self.too_early.raced.insert(event.address, init);
        Some(init)
    }

    /// One thread initialises a barrier, and another uses it: the later of the two is this one.
    pub(super) fn unordered_init(&self, event: Event, help: String, found: &mut Found) {
        if event.how.writes {
            found.places.reverse();
            found.notes.push("this time the use comes first".into());
        }
        found.places[0].2 = format!("initialises the barrier at {}", self.place_of(event.address));
        found.places[1].2 = "uses it".into();
        found.title = UNORDERED_INIT.into();
        found.help = help.replacen("between them", "after the initialisation, before others use the barrier", 1);
    }

    /// A use of what is no barrier yet is the same mistake as the race with its initialisation.
    pub(crate) fn judge_barriers(&mut self) {
        let (doubled, sites) = (self.too_early.doubled(), &self.sites);
        let is_doubled = |found: &Found| {
            found.title == NO_BARRIER && found.places.iter().any(|place| doubled.contains(&sites.instruction(place.1)))
        };
        self.found.retain(|found| !is_doubled(found));
        // Nothing is found any more, and what was is elsewhere.
        self.seen.clear();
    }

    /// All threads wait, the first of them for a barrier that was used too early: then its arrivals are lost, and the launch ends by the
    /// mistake that is told already. Says whether that is so.
    pub(crate) fn hangs_by_early_use(&mut self, place: u64, wait: &str) -> bool {
        let Some(site) = self.too_early.by.get(&place).copied() else { return false };
        let raced = self.too_early.raced.get(&place);
        let key = raced.map_or(self.key(Kind::Uninitialised, site, NONE), |init| self.key(Kind::Race, *init, NONE));
        let Some((found, _)) = self.seen.get(&key) else { return false };
        self.found[*found].notes.push(format!("{HANGS}: one {wait}"));
        true
    }

    /// A barrier in memory that was not initialised.
    pub(crate) fn no_barrier(&mut self, actor: Actor, site: u32, place: u64) {
        let what = format!("uses the barrier at {}", self.place_of(place));
        let first = *self.too_early.by.entry(place).or_insert(self.sites.instruction(site));
        let key = self.key(Kind::Uninitialised, first, NONE);
        let found = Found {
            kind: Kind::Uninitialised,
            title: NO_BARRIER.into(),
            places: vec![(actor, site, what)],
            notes: vec![],
            help:
                "initialise it in one thread, then a barrier of the block, or of the cluster if its other blocks use it"
                    .into(),
            times: 1,
        };
        self.find_as(key, found, 0);
    }

    /// A barrier in memory that somebody has ended.
    pub(crate) fn ended_barrier(&mut self, actor: Actor, site: u32, place: u64, end: (Actor, u32)) {
        let what = format!("uses the barrier at {}", self.place_of(place));
        self.find(Found {
            kind: Kind::Uninitialised,
            title: "a barrier is used after `mbarrier.inval`".into(),
            places: vec![(end.0, end.1, "ends the barrier".into()), (actor, site, what)],
            notes: vec![],
            help: "end it when nobody uses it any more, or initialise it anew".into(),
            times: 1,
        });
    }

    /// A barrier that is initialised is initialised anew.
    pub(super) fn second_init(&mut self, (actor, site): (Actor, u32), place: u64, by: (Actor, u32)) {
        self.find(Found {
            kind: Kind::Async,
            title: "a barrier is initialised that is a barrier already".into(),
            places: vec![
                (by.0, by.1, format!("initialises the barrier at {}", self.place_of(place))),
                (actor, site, "initialises it again".into()),
            ],
            notes: vec!["PTX leaves undefined what comes of that".into()],
            help: "initialise it once, before the loop; or end it by `mbarrier.inval` before, when nobody uses it any more".into(),
            times: 1,
        });
    }

    /// A wait is given a number that no arrival has given.
    pub(crate) fn no_state(&mut self, actor: Actor, site: u32, place: u64, state: u32) {
        let what = format!("waits for the barrier at {}, by the state {state}", self.place_of(place));
        self.find(Found {
            kind: Kind::Async,
            title: "a wait for a barrier is given a state that no arrival gives".into(),
            places: vec![(actor, site, what)],
            notes: vec!["PTX leaves undefined for which phase it waits then".into()],
            help: "give it what the thread's own `mbarrier.arrive` has given for this phase, or wait for a parity, 0 or 1, by `.parity`".into(),
            times: 1,
        });
    }

    /// The memory of a barrier that nobody has ended is used for something else.
    pub(super) fn overwritten_barrier(&mut self, place: u64, init: (Actor, u32), by: (Actor, u32)) {
        self.find(Found {
            kind: Kind::Async,
            title: "a barrier is overwritten that `mbarrier.inval` has not ended".into(),
            places: vec![
                (init.0, init.1, format!("initialises the barrier at {}", self.place_of(place))),
                (by.0, by.1, "writes other bytes there".into()),
            ],
            notes: vec!["PTX leaves undefined what comes of that".into()],
            help: "when nobody uses the barrier any more, let one thread execute `mbarrier.inval`, and the block meet at a barrier behind it; or give \
                   the bytes memory of their own"
                .into(),
            times: 1,
        });
    }
}
