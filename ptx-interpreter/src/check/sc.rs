//! The order of `fence.sc`. All such fences have one order, and in a run it is that in which they were executed. Most of it is chance: in
//! another run it is another one, and what it orders by chance must not hide that nothing else does. So a fence comes after another
//! one only where this has to be: where an access after that one came before an access of the same bytes in front of this one. Each
//! access is one of the fence's thread, or of another thread of its block across a barrier. Where loads may return older values, these
//! depend on the order, and all of it counts.

use super::actor::Actor;
use super::checks::{Checks, Event, State};
use super::clock::{Clock, Known};
use super::fences::{Own, Sc};
use super::heads::Reach;
use super::mark::Mark;
use super::marks::happened;
use super::shadow::Kept;
use crate::machine::lanes::lanes_of;

/// Fences of a thread that are remembered.
const FENCES: usize = 4;
/// The distance of threads that only the GPU has in common.
pub(super) const OF_A_GPU: usize = 2;

impl Checks {
    /// Which accesses of a cell an access comes after that nothing else orders. Gives what the fences knew before those that it may stand
    /// for.
    pub(super) fn comes_after(
        &mut self,
        event: Event,
        mark: &Mark,
        (cell, kept): (u64, &[Kept]),
    ) -> Option<Box<Known>> {
        if !self.sc.has[0] || mark.is_engine {
            return None;
        }
        let conflicts = |old: &&Kept| {
            let old = &old.mark;
            !old.is_engine && old.bytes & mark.bytes != 0 && (old.writes || mark.writes)
        };
        let are_strong = |old: &&Kept| old.mark.scope > 0 && mark.scope > 0;
        // Two weak writes that race have no order. A read has come after the write that it returns, and before a later one.
        let are_in_order = |old: &&Kept| are_strong(old) || event.how.reads || !old.mark.writes;
        let overwrites = |old: &Kept| mark.writes && mark.scope == 0 && (old.mark.scope > 0 || !old.mark.writes);
        for old in kept.iter().filter(conflicts) {
            let is_in_order = are_in_order(&old);
            for lane in lanes_of(old.mark.lanes) {
                let earlier = (self.actor_of(&old.mark, lane), old.mark.epoch);
                if is_in_order {
                    self.comes_after_one(event, earlier);
                }
                if overwrites(old) && self.is_unordered(event, earlier) {
                    self.sc.overwrites(cell, Mark { lanes: 1 << lane, ..old.mark });
                }
            }
        }
        if event.how.writes {
            let before = self.sc.overwritten.get(&cell).cloned().unwrap_or_default();
            let goes_on = |old: &Mark| old.bytes & mark.bytes != 0 && (!old.writes || mark.scope > 0);
            for old in before.into_iter().filter(goes_on) {
                let actor = self.actor_of(&old, old.lanes.trailing_zeros() as usize);
                self.comes_after_one(event, (actor, old.epoch));
            }
        }
        if !self.sc.has[OF_A_GPU] || mark.scope == 0 {
            return None;
        }
        let mut all: Option<Box<Known>> = None;
        let is_atomic = event.how.reads && event.how.writes;
        let are_whole = |old: &&Kept| old.mark.writes && old.mark.bytes == mark.bytes;
        for old in kept.iter().filter(conflicts).filter(are_strong).filter(are_whole) {
            if let Some(before) = &old.before {
                self.came_later(event.actor).learned[OF_A_GPU].join(before);
            }
            if is_atomic {
                let all = all.get_or_insert_default();
                old.before.iter().for_each(|before| all.join(before));
                for lane in lanes_of(old.mark.lanes) {
                    let earlier = (self.actor_of(&old.mark, lane), old.mark.epoch);
                    all.join(&self.fences_before(earlier, OF_A_GPU, &all.ordered));
                }
            }
        }
        all
    }

    /// Whether nothing that is known orders an access after an earlier one.
    fn is_unordered(&self, event: Event, (actor, epoch): (Actor, u32)) -> bool {
        actor != event.actor && !happened(self.known_state(event.actor), epoch, actor)
    }

    /// An access comes after an earlier one, behind whose thread's fences its own come then.
    fn comes_after_one(&mut self, event: Event, (actor, epoch): (Actor, u32)) {
        let is_fenced = self.sc.has(actor.block, self.distance(actor.block, event.actor.block));
        if is_fenced && self.is_unordered(event, (actor, epoch)) {
            let last = self.came_later(event.actor).after.entry(actor).or_default();
            *last = epoch.max(*last);
        }
    }

    /// What is remembered of a thread that came after another one.
    fn came_later(&mut self, actor: Actor) -> &mut Own {
        let epoch = self.known_state(actor).epoch;
        let of_block = self.sc.of(actor.block);
        of_block.later.insert(actor.number);
        let own = of_block.own(actor.number);
        own.epoch = epoch;
        own
    }

    /// What a `fence.sc` learns of those before it.
    pub(super) fn known_before(&mut self, actor: Actor, reach: Reach) -> Known {
        let mut known = Known::default();
        if self.history.is_some() {
            self.sc.handed.give(reach, &mut known);
            return known;
        }
        let later: Vec<usize> = self.sc.of(actor.block).later.iter().copied().collect();
        for number in later {
            let other = Actor { block: actor.block, number };
            self.follow(other, actor);
            let known_of_it = self.known_state(actor).known.ordered.of_thread(actor.block, number);
            let own = self.sc.own(other);
            if other == actor || known_of_it >= own.epoch {
                own.learned[..=reach.level].iter().for_each(|learned| known.join(learned));
            }
        }
        known
    }

    /// What follows for a thread from the accesses that its own ones came after, for a fence of this thread.
    fn follow(&mut self, actor: Actor, fence: Actor) {
        for (other, epoch) in std::mem::take(&mut self.sc.own(actor).after) {
            let distance = self.distance(actor.block, other.block);
            // Who hears of these accesses later hears of what is known now.
            let is_now = actor == fence && self.known_state(actor).epoch == self.sc.own(actor).epoch;
            let own = if is_now { &self.known_state(actor).known } else { &self.sc.own(actor).learned[distance] };
            let own = own.ordered.clone();
            let known = self.fences_before((other, epoch), distance, &own);
            self.sc.own(actor).learned[distance].join(&known);
        }
    }

    /// What the fences that reach so far knew before an access, but for one of its thread's that is known: so is what it knew.
    fn fences_before(&mut self, (actor, epoch): (Actor, u32), distance: usize, own: &Clock) -> Known {
        if let Some(ended) = self.sc.ended.get(&actor.block.into()) {
            return ended[distance].clone();
        }
        let mut known = Known::default();
        if self.sc.of(actor.block).counts[distance] > 0 {
            let last = self.sc.own(actor).before(epoch, distance);
            let is_new = |fence: &&Sc| own.of_thread(actor.block, actor.number) + 1 < fence.epoch;
            last.into_iter().filter(is_new).for_each(|fence| known.join(&fence.known));
            known.join(self.known_of_block(actor, distance));
        }
        known
    }

    /// What the fences of other threads of its block knew that a thread knows of: those before a barrier.
    fn known_of_block(&mut self, actor: Actor, distance: usize) -> &Known {
        let State { epoch, known, .. } = &self.states[&u64::from(actor.block)][actor.number];
        let (epoch, ordered) = (*epoch, &known.ordered);
        let of_block = self.sc.of(actor.block);
        let now = (epoch, of_block.counts[distance]);
        let (epoch, count, _) = &of_block.own(actor.number).of_block[distance];
        if (*epoch, *count) != now {
            let mut known = Known::default();
            for (number, own) in of_block.own.iter().filter(|(number, _)| **number != actor.number) {
                let before = own.before(ordered.of_thread(actor.block, *number), distance);
                before.into_iter().for_each(|fence| known.join(&fence.known));
            }
            of_block.own(actor.number).of_block[distance] = (now.0, now.1, known);
        }
        &self.sc.own(actor).of_block[distance].2
    }

    /// A `fence.sc` was executed by a thread that knew this; an epoch of the thread begins.
    pub(super) fn fenced(&mut self, actor: Actor, reach: Reach, known: Known) {
        if self.history.is_some() {
            return self.sc.handed.put(reach, &known);
        }
        let epoch = self.known_state(actor).epoch;
        self.sc.has[..=reach.level].fill(true);
        let of_block = self.sc.of(actor.block);
        of_block.counts[..=reach.level].iter_mut().for_each(|count| *count += 1);
        let fences = &mut of_block.own(actor.number).fences;
        if fences.len() == FENCES {
            fences.remove(0);
        }
        fences.push(Sc { epoch, reach, known });
    }
}
