//! Bytes that a thread tells a barrier to expect without an arrival of its own: the phase may be over before.

use super::actor::Actor;
use super::checks::{Checks, Found, Mbarrier, Owed, State};
use super::finding::Kind;
use super::marks::happened;

impl Owed {
    /// Whether what a thread does comes after it.
    fn is_before(&self, actor: Actor, state: &State) -> bool {
        self.actor == actor || happened(state, self.epoch, self.actor)
    }

    /// A thread tells the barrier of more bytes, or begins a copy that brings some.
    pub(super) fn count(&mut self, actor: Actor, state: &State, bytes: i64) {
        if !self.is_before(actor, state) {
            self.others += bytes;
        }
    }
}

impl Mbarrier {
    /// A thread arrives: the phase cannot be over before what this thread knows of.
    pub(super) fn is_arrived_at(&mut self, (actor, site): (Actor, u32), state: &State) {
        self.owed.retain(|owed| !owed.is_before(actor, state));
        self.arrived = Some((actor, site));
    }
}

impl Checks {
    /// A phase is over: it might have been so before a thread told of its bytes.
    pub(super) fn owed_too_late(&mut self, place: u64, owed: &Owed, arrived: Option<(Actor, u32)>) {
        if owed.others != 0 {
            return;
        }
        let bar = self.place_of(place);
        let mut places = vec![(owed.actor, owed.site, format!("lets the barrier at {bar} expect bytes"))];
        places
            .extend(arrived.map(|(actor, site)| (actor, site, "arrives at it, as the last one of that phase".into())));
        self.find(Found {
            kind: Kind::Async,
            title: "a phase of a barrier may be over before it is told of bytes that it has to wait for".into(),
            places,
            notes: vec![
                "no thread that arrives in this phase does so after that, and without these bytes the phase lacks none: then they count for \
                 the next one, and a wait for this one does not wait for their copy"
                    .into(),
            ],
            help: "let this thread arrive too (`mbarrier.arrive.expect_tx`, and `mbarrier.init` counts it), or put a barrier between this and \
                   the arrival of the other thread"
                .into(),
            times: 1,
        });
    }
}
