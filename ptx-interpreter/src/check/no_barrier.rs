//! What is found about barriers in memory that are none, or none any more.

use super::actor::Actor;
use super::checks::{Checks, Found};
use super::finding::Kind;

impl Checks {
    /// A barrier in memory that was not initialised, or not for the asynchronous proxy.
    pub(crate) fn no_barrier(&mut self, actor: Actor, site: u32, place: u64) {
        let what = format!("uses the barrier at {}", self.place_of(place));
        self.find(Found {
            kind: Kind::Uninitialised,
            title: "a barrier is used that `mbarrier.init` has not initialised".into(),
            places: vec![(actor, site, what)],
            notes: vec![],
            help: "initialise it in one thread, then `fence.mbarrier_init` or `fence.proxy.async`, then a barrier of the block".into(),
            times: 1,
        });
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

    pub(crate) fn hidden_barrier(&mut self, actor: Actor, site: u32, place: u64, init: (Actor, u32)) {
        let what = format!("begins a copy that arrives at {}", self.place_of(place));
        self.find(Found {
            kind: Kind::Proxy,
            title: "a copy arrives at a barrier whose initialisation the asynchronous proxy may not see".into(),
            places: vec![(init.0, init.1, "initialises the barrier".into()), (actor, site, what)],
            notes: vec![],
            help: "after `mbarrier.init`, the same thread executes `fence.proxy.async` or `fence.mbarrier_init.release.cluster`".into(),
            times: 1,
        });
    }
}
