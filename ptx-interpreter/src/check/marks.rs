//! Which accesses of four bytes are kept for later ones to meet.
//!
//! An access need not be kept any longer if whatever will race with it races with a newer one as well. A weak access stands
//! for all that were ordered before it. A strong one stands for less: later accesses that go together with it need not go
//! together with those before.

use super::actor::Actor;
use super::checks::{Checks, Event, State};
use super::shadow::{Busy, Kept, Mark};
use crate::machine::lanes::lanes_of;

/// Marks of one cell, at most. Of more some are forgotten.
const MARKS: usize = 64;
/// Of more marks than these, the newest of one block stands for those of other blocks too.
pub(super) const BLOCKS: usize = 8;
/// Observers of one write, at most. Of more the first ones are forgotten.
const OBSERVERS: usize = 32;

impl Checks {
    /// Keeps an access, and forgets those that it stands for. Of the others it observes some.
    pub(super) fn keep(&self, busy: &mut Busy, event: Event, new: Kept, seen: &[u32]) {
        let (mark, state) = (new.mark, self.known_state(event.actor));
        if mark.writes {
            for (_, last) in busy.last.iter_mut().enumerate().filter(|(byte, _)| mark.bytes >> byte & 1 == 1) {
                *last = new.number;
            }
        } else {
            busy.forget_older_reads(&mark);
        }
        let is_joined = !mark.writes && busy.join(&mark);
        if mark.writes && mark.scope == 0 {
            busy.kept.iter_mut().for_each(|old| old.mark.bytes &= !mark.bytes);
            busy.kept.retain(|old| old.mark.bytes != 0);
        } else if !is_joined {
            busy.kept.retain(|old| !self.stands_for(state, event, &new, old, seen, false));
            if busy.kept.len() > BLOCKS {
                busy.kept.retain(|old| !self.stands_for(state, event, &new, old, seen, true));
            }
        }
        for old in busy.kept.iter_mut().filter(|old| seen.contains(&old.number)) {
            old.is_observed(state, event.actor);
        }
        if is_joined {
            return;
        }
        busy.kept.push(new);
        if busy.kept.len() > MARKS {
            let place = busy.kept.iter().position(|old| !old.mark.writes).unwrap_or(0);
            let lost = busy.kept.remove(place).mark;
            let is_as_much = |mark: &Mark| (mark.writes || !lost.writes) && mark.is_change() == lost.is_change();
            let stays = |old: &&Kept| is_as_much(&old.mark);
            let left = busy.kept.iter().filter(stays).fold(0, |bytes, old| bytes | old.mark.bytes);
            self.forgets.set(self.forgets.get() || lost.bytes & !left != 0);
        }
    }

    /// Whether what will race with an old access will race with a new one, which is a read or a strong write; if not of any
    /// scope, of the GPU's.
    fn stands_for(&self, state: &State, event: Event, new: &Kept, old: &Kept, seen: &[u32], of_gpu: bool) -> bool {
        let (mark, was) = (&new.mark, &old.mark);
        if was.bytes & !mark.bytes != 0 || was.writes && !mark.writes || was.alias != mark.alias {
            return false;
        }
        let ordered = || match was.is_engine {
            true => state.known.ordered.of_engine(was.who) >= was.epoch,
            false => lanes_of(was.lanes).all(|lane| {
                let other = self.actor_of(was, lane);
                other == event.actor || happened(state, was.epoch, other)
            }),
        };
        if mark.scope == 0 {
            return ordered();
        }
        // Whoever goes together with the new one has to go together with the old one.
        let same = (was.bytes, was.size) == (mark.bytes, mark.size) && was.scope >= mark.scope;
        // A later access of a narrower scope goes together with one of its block, and not with one of another block.
        let near = !was.is_engine && (of_gpu && mark.scope > 2 || self.actor_of(was, 0).block == event.actor.block);
        same && near
            && match (was.writes, mark.writes) {
                (true, _) => event.how.reads && seen.contains(&old.number),
                // Who observes the new write comes after it, and not after the read.
                (false, true) => false,
                (false, false) => ordered(),
            }
    }
}

impl Kept {
    /// A thread observes a strong write, unless it knows of one that has.
    fn is_observed(&mut self, state: &State, actor: Actor) {
        if observed(state, self, actor) {
            return;
        }
        let observers = self.observers.get_or_insert_default();
        if observers.len() == OBSERVERS {
            observers.remove(0);
        }
        observers.push((actor, state.epoch));
    }
}

impl Busy {
    /// A thread's newer read stands for its older one.
    pub(super) fn forget_older_reads(&mut self, mark: &Mark) {
        self.kept.iter_mut().filter(|old| replaces(mark, &old.mark)).for_each(|old| old.mark.lanes &= !mark.lanes);
        self.kept.retain(|old| old.mark.lanes != 0 || old.mark.is_engine);
    }

    /// A read becomes one with that of other threads of the warp, if there is one.
    pub(super) fn join(&mut self, mark: &Mark) -> bool {
        self.kept.iter_mut().any(|old| joined(&mut old.mark, mark))
    }

    /// The number of the last write of these bytes, if it was a weak one of this thread's: its atomic, which reads it, observes
    /// it although it is weak. Whether it reads that, may be known.
    pub(super) fn own_weak_write(&mut self, mark: &Mark, is_read: Option<bool>, next: &mut u32) -> Option<u32> {
        let mut last = self.last.iter().enumerate().filter(|(byte, _)| mark.bytes >> byte & 1 == 1);
        let is_read = is_read.unwrap_or_else(|| last.all(|(_, last)| *last == 0));
        let own = |old: &&mut Kept| {
            let old = &old.mark;
            old.writes
                && old.scope == 0
                && !old.is_engine
                && (old.who, old.lanes, old.bytes) == (mark.who, mark.lanes, mark.bytes)
        };
        let old = self.kept.iter_mut().find(own).filter(|_| is_read)?;
        if old.number == 0 {
            *next += 1;
            old.number = *next;
        }
        Some(old.number)
    }
}

/// Whether what a thread did in an epoch happened before.
pub(super) fn happened(state: &State, epoch: u32, actor: Actor) -> bool {
    state.known.ordered.of_thread(actor.block, actor.number) >= epoch
}

/// Whether a thread has observed a strong write, or what did so happened before.
pub(super) fn observed(state: &State, old: &Kept, actor: Actor) -> bool {
    let mut observers = old.observers.iter().flat_map(|all| all.iter());
    observers.any(|(other, epoch)| *other == actor || happened(state, *epoch, *other))
}

/// One mark for the threads of a warp that do the same.
pub(super) fn joined(old: &mut Mark, new: &Mark) -> bool {
    if old.is_engine || old.bytes == 0 || (Mark { lanes: old.lanes, ..*new }) != *old {
        return false;
    }
    old.lanes |= new.lanes;
    true
}

/// Whether a read is as another one of the same warp, but for its place.
fn replaces(new: &Mark, old: &Mark) -> bool {
    !new.is_engine && (Mark { lanes: old.lanes, site: old.site, ..*new }) == *old
}
