//! A thread tells of its block that something is done, by a flag or a counter, and others of the block are not done before that.

use super::actor::Actor;
use super::checks::{Checks, Event, Found, Missed};
use super::shadow::Mark;
use super::titles::TELLS;

impl Checks {
    /// Another thread of the block of an earlier access that tells what it knows to the thread which accesses the bytes now, and does so
    /// after its last barrier before the access or later; and what that lacks itself.
    fn teller(&self, old: &Mark, actor: Actor, event: Event) -> Option<(Actor, Option<(Actor, &Missed)>)> {
        if actor.block == event.actor.block {
            return None;
        }
        let others = || (0..self.threads).filter(|number| *number != actor.number);
        let others = || others().map(|number| Actor { block: actor.block, number });
        let known = &self.known_state(event.actor).known.ordered;
        let told = others().find(|other| known.of_thread(other.block, other.number) >= old.epoch);
        let missed_by = |other: Actor| {
            let is_by = |missed: &Missed| missed.known.is_by(other) && missed.known.of_thread(other) >= old.epoch;
            Some((other, Some(self.missed_of(event, &is_by)?)))
        };
        told.map(|other| (other, None)).or_else(|| others().find_map(missed_by))
    }

    /// Says so, if there is one.
    pub(super) fn told_by_another(&self, old: &Mark, actor: Actor, event: Event, found: &mut Found) {
        let Some((other, missed)) = self.teller(old, actor, event) else { return };
        if let Some((reader, missed)) = missed {
            found.places.push((other, missed.write, "writes a flag, or counts".into()));
            found.places.push((reader, missed.read, "reads that".into()));
        }
        found.notes.push(format!(
            "thread {} of block {} {TELLS}, by a flag or an atomic that counts, and nothing orders the access of thread {} before that",
            other.number, other.block, actor.number
        ));
        found.help = "if that tells of the whole block, put `bar.sync 0` (__syncthreads()) between the access and the atomic or flag, so that all \
                      threads are done before one tells it; and in that thread `fence.acq_rel.gpu` (__threadfence()) between the barrier and the \
                      atomic, if none is there. Else let the first thread release a flag of its own"
            .into();
    }
}
