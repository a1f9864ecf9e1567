//! Atomics that neither release nor acquire, where no other block has changed the bytes by one: most are. They order nothing. Such a
//! one begins a chain, or goes on where the last one was and takes its place in what is remembered. So all is done at once that is
//! elsewhere done one after the other.

use std::rc::Rc;

use super::checks::{Checks, Event, Lack, State};
use super::mark::{CELL, Mark, WHOLE};
use super::quick::are_closed;
use super::record::Record;
use super::sc::OF_A_GPU;
use super::shadow::{Kept, PAGE};
use super::trail::Link;
use crate::machine::lanes::LANES;
use crate::ptx::access::Scope;

/// Marks that a cell has when a chain begins, at most.
const FEW: usize = 16;

/// Such an atomic: its mark, and what a message may tell of it.
struct Change {
    event: Event,
    scope: Scope,
    mark: Mark,
    /// The page of its cell, and where it is there.
    place: (usize, usize),
}

impl Checks {
    /// Checks such an atomic and remembers it. Others are left.
    pub(super) fn is_in_chain(&mut self, event: Event, scope: Scope) -> bool {
        let Event { actor, address, bytes, how, engine, .. } = event;
        let is_plain = how.reads && how.writes && !how.acquires && !how.releases && scope != Scope::System;
        let is_cell = bytes as u64 == CELL && address.is_multiple_of(CELL);
        if are_closed() || !is_plain || !is_cell || engine.is_some() || self.history.is_some() {
            return false;
        }
        let place = (self.open(address), (address % PAGE / CELL) as usize);
        let (page, state) = (&self.shadow.pages[place.0], self.known_state(actor));
        let has_values = page.values(place.1) == WHOLE && page.constant.is_none();
        if page.cells.is_empty() || !has_values || state.strong.is_some() {
            return false;
        }
        let has_more = page.cells[place.1].has_more();
        let mark = Mark { bytes: WHOLE, ..self.mark(event, state.epoch) };
        let change = Change { event, scope, mark, place };
        if has_more { self.goes_on(change) } else { self.begins(change) }
    }

    /// One where all before it is weak.
    fn begins(&mut self, Change { event, scope, mark, place }: Change) -> bool {
        let Event { actor, address, site, .. } = event;
        let (warps, state) = (self.warps(), self.known_state(actor));
        let marks = self.shadow.marks(place, address);
        // What a thread has written itself its atomic observes.
        let is_own = |old: &Mark| old.writes && (old.who, old.lanes) == (mark.who, mark.lanes);
        let mut count = 0;
        let are_before =
            marks.inspect(|_| count += 1).all(|old| !is_own(&old) && state.comes_after(&old, &mark, warps));
        if !are_before || count > FEW {
            return false;
        }
        let link = Link::new(state.known.ordered.clone(), actor, state.epoch);
        self.writes += 1;
        let number = self.writes;
        let mut record = Record { number, ..Record::new((address, event.bytes), actor, site, scope) };
        record.releases_nothing();
        record.full.push(link, self.threads);
        let mut busy = self.shadow.take(place, address);
        busy.kept.push(Kept { mark, number, ..Kept::default() });
        busy.last.fill(number);
        busy.records.push(self.shadow.spare.record(record));
        self.shadow.put(place, busy);
        true
    }

    /// One where the last write is an atomic's of its block, and all else is weak.
    fn goes_on(&mut self, Change { event, scope, mark, place }: Change) -> bool {
        let Event { actor, site, how, .. } = event;
        // An order of `fence.sc` may come of it.
        if self.sc.has[OF_A_GPU] || self.sc.has(actor.block, 0) {
            return false;
        }
        let (warps, state) = (self.warps(), &self.states[&u64::from(actor.block)][actor.number]);
        let Some(busy) = self.shadow.busy(place) else { return false };
        let (Some((newest, before)), [record]) = (busy.kept.split_last_mut(), &mut busy.records[..]) else {
            return false;
        };
        let is_last = busy.last == [record.number; CELL as usize] && newest.number == record.number;
        let is_own = record.writer.block == actor.block && record.heads.is_empty();
        let Some(record) = Rc::get_mut(record).filter(|_| is_last && is_own && follows(newest, &mark)) else {
            return false;
        };
        if !before.iter().all(|old| old.number == 0 && state.comes_after(&old.mark, &mark, warps)) {
            return false;
        }
        let relaxed = if how.is_unused { None } else { record.relaxed_by_others(actor) };
        let lack = relaxed.map(|(writer, write)| (writer, write, record.full.clone()));
        self.writes += 1;
        *newest = Kept { mark, number: self.writes, ..Kept::default() };
        busy.last.fill(self.writes);
        record.follow(self.writes, scope, (actor, site));
        record.continues.clear();
        record.releases_nothing();
        let (known, epoch) = (&state.known.ordered, state.epoch);
        if !record.full.takes(known, actor, epoch) {
            record.full.push(Link::new(known.clone(), actor, epoch), self.threads);
        }
        if let Some((writer, write, known)) = lack {
            self.miss(event, (Lack::Release, writer, write), known, None);
        }
        true
    }
}

/// Whether an atomic's mark takes the place of that of the last write, by a thread of its block.
fn follows(last: &Kept, mark: &Mark) -> bool {
    let was = &last.mark;
    (was.bytes, was.size, was.alias) == (mark.bytes, mark.size, mark.alias)
        && (was.writes, was.is_engine) == (true, false)
        && was.scope >= mark.scope
        && last.before.is_none()
}

impl State {
    /// Whether it is a weak access, and happened before.
    fn comes_after(&self, was: &Mark, mark: &Mark, warps: usize) -> bool {
        let others = if was.who == mark.who { was.lanes & !mark.lanes } else { was.lanes };
        let (block, warp) = (was.who / warps as u32, was.who as usize % warps);
        (was.scope, was.is_engine, was.alias) == (0, false, mark.alias)
            && self.known.ordered.has(block, warp * LANES, others, was.epoch)
    }
}
