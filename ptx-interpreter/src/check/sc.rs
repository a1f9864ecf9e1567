//! The order of `fence.sc`. All such fences have one order, and in a run it is that in which they were executed. Most of it is chance: in
//! another run it is another one, and what it orders by chance must not hide that nothing else does. So a fence comes after another
//! one only where this has to be: where an access after that one came before an access of the same bytes in front of this one. Each
//! access is one of the fence's thread, or of another thread of its block across a barrier. Where loads may return older values, these
//! depend on the order, and all of it counts.

use super::actor::Actor;
use super::checks::{Checks, Event};
use super::clock::Known;
use super::fences::Sc;
use super::heads::Reach;
use super::mark::Mark;
use super::marks::happened;
use super::shadow::Kept;
use crate::lanes::lanes_of;

/// Fences of a thread that are remembered.
const FENCES: usize = 4;
/// The distance of threads that only the GPU has in common.
const WIDEST: usize = 2;

impl Checks {
    /// Which accesses a strong access comes after that nothing else orders. Gives what the fences knew before those that it may
    /// stand for.
    pub(super) fn comes_after(&mut self, event: Event, mark: &Mark, kept: &[Kept]) -> Option<Box<Known>> {
        if !self.sc.has_any || mark.scope == 0 || mark.is_engine {
            return None;
        }
        let conflicts = |old: &&Kept| {
            let old = &old.mark;
            old.scope > 0 && !old.is_engine && old.bytes & mark.bytes != 0 && (old.writes || mark.writes)
        };
        let Actor { block, number } = event.actor;
        for old in kept.iter().filter(conflicts) {
            for lane in lanes_of(old.mark.lanes) {
                let actor = self.actor_of(&old.mark, lane);
                if actor != event.actor && !happened(self.known_state(event.actor), old.mark.epoch, actor) {
                    let epoch = self.known_state(event.actor).epoch;
                    let own = self.sc.own.entry(event.actor).or_default();
                    own.epoch = epoch;
                    let last = own.after.entry(actor).or_default();
                    *last = old.mark.epoch.max(*last);
                    self.sc.later.entry(block).or_default().insert(number);
                }
            }
        }
        let mut all: Option<Box<Known>> = None;
        let is_atomic = event.how.reads && event.how.writes;
        for old in kept.iter().filter(conflicts).filter(|old| old.mark.writes && old.mark.bytes == mark.bytes) {
            if let Some(before) = &old.before {
                let epoch = self.known_state(event.actor).epoch;
                let own = self.sc.own.entry(event.actor).or_default();
                own.epoch = epoch;
                own.learned[WIDEST].join(before);
                self.sc.later.entry(block).or_default().insert(number);
            }
            if is_atomic {
                let all = all.get_or_insert_default();
                old.before.iter().for_each(|before| all.join(before));
                for lane in lanes_of(old.mark.lanes) {
                    all.join(&self.fences_before(self.actor_of(&old.mark, lane), old.mark.epoch, WIDEST));
                }
            }
        }
        all
    }

    /// What a `fence.sc` learns of those before it.
    pub(super) fn known_before(&mut self, actor: Actor, reach: Reach) -> Known {
        let mut known = Known::default();
        if self.history.is_some() {
            self.sc.handed.give(reach, &mut known);
            return known;
        }
        let later: Vec<usize> = self.sc.later.get(&actor.block).into_iter().flatten().copied().collect();
        for number in later {
            let other = Actor { block: actor.block, number };
            self.follow(other);
            let own = &self.sc.own[&other];
            let known_of_it = self.known_state(actor).known.ordered.of_thread(actor.block, number);
            if other == actor || known_of_it >= own.epoch {
                own.learned[..=reach.level].iter().for_each(|learned| known.join(learned));
            }
        }
        known
    }

    /// What follows for a thread from the accesses that its own ones came after.
    fn follow(&mut self, actor: Actor) {
        let after = self.sc.own.get_mut(&actor).map(|own| std::mem::take(&mut own.after)).unwrap_or_default();
        for (other, epoch) in after {
            let distance = self.distance(actor.block, other.block);
            let known = self.fences_before(other, epoch, distance);
            self.sc.own.entry(actor).or_default().learned[distance].join(&known);
        }
    }

    /// What the fences that reach so far knew before an access.
    fn fences_before(&mut self, actor: Actor, epoch: u32, distance: usize) -> Known {
        let mut known = Known::default();
        match self.sc.ended.get(&actor.block) {
            Some(ended) => known.join(ended),
            None => {
                let fences = self.sc.own.get(&actor).into_iter().flat_map(|own| &own.fences);
                let before = fences.filter(|fence| fence.epoch <= epoch && fence.reach.level >= distance);
                before.for_each(|fence| known.join(&fence.known));
                known.join(self.known_of_block(actor));
            }
        }
        known
    }

    /// What the fences of other threads of its block knew that a thread knows of: those before a barrier.
    fn known_of_block(&mut self, actor: Actor) -> &Known {
        let epoch = self.state(actor).epoch;
        let count = self.sc.count.get(&actor.block).copied().unwrap_or_default();
        let is_known = self.sc.own.get(&actor).is_some_and(|own| (own.of_block.0, own.of_block.1) == (epoch, count));
        if !is_known {
            let ordered = &self.known_state(actor).known.ordered;
            let mut known = Known::default();
            for number in (0..self.threads).filter(|number| *number != actor.number) {
                let own = self.sc.own.get(&Actor { block: actor.block, number });
                let fences = own.into_iter().flat_map(|own| &own.fences);
                let before = fences.filter(|fence| fence.epoch <= ordered.of_thread(actor.block, number));
                before.for_each(|fence| known.join(&fence.known));
            }
            self.sc.own.entry(actor).or_default().of_block = (epoch, count, known);
        }
        &self.sc.own.entry(actor).or_default().of_block.2
    }

    /// A `fence.sc` was executed by a thread that knew this; an epoch of the thread begins.
    pub(super) fn fenced(&mut self, actor: Actor, reach: Reach, known: Known) {
        if self.history.is_some() {
            return self.sc.handed.put(reach, &known);
        }
        let epoch = self.state(actor).epoch;
        self.sc.has_any = true;
        *self.sc.count.entry(actor.block).or_default() += 1;
        let fences = &mut self.sc.own.entry(actor).or_default().fences;
        if fences.len() == FENCES {
            fences.remove(0);
        }
        fences.push(Sc { epoch, reach, known });
    }
}
