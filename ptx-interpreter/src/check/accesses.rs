//! An access meets those before it.

use super::checks::{Actor, Checks, Event, State, level};
use super::shadow::{CELL, Cell, Mark};
use crate::lanes::{LANES, lanes_of};

/// Marks of one cell beside the first ones, at most. Of more readers some are forgotten.
const MARKS: usize = 16;

/// Why two accesses do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    Race,
    /// Both are strong, and the scope of one is too narrow.
    Narrow,
    Proxy,
    Async,
}

impl Checks {
    /// Checks an access and remembers it. Gives whether the last write of its first byte was a strong one.
    pub(crate) fn access(&mut self, event: Event, fresh: impl Fn(u64) -> bool + Copy) -> bool {
        let (begin, end) = (event.address, event.address + event.bytes as u64);
        let mut cell_at = begin / CELL * CELL;
        let mut was_strong = false;
        let epoch = self.state(event.actor).epoch;
        let mark = self.mark(event, epoch);
        while cell_at < end {
            let from = begin.max(cell_at) - cell_at;
            let to = end.min(cell_at + CELL) - cell_at;
            let bytes = ((1u16 << to) - (1 << from)) as u8;
            let strong = self.cell(event, Mark { bytes, ..mark }, cell_at, fresh);
            was_strong |= cell_at <= begin && strong;
            cell_at += CELL;
        }
        was_strong
    }

    fn cell(&mut self, event: Event, mark: Mark, at: u64, fresh: impl Fn(u64) -> bool) -> bool {
        let bytes = mark.bytes;
        let pieces = &self.pieces;
        let written = |page: u64| {
            !fresh(page)
                && !pieces.iter().any(|piece| {
                    !piece.written
                        && (piece.begin..piece.begin + piece.bytes).contains(&page.max(piece.begin))
                        && page + 1024 > piece.begin
                })
        };
        let cell = self.shadow.cell(at, written);
        let strong = cell.write.scope > 0;
        if alone(cell, &mark, event) {
            return strong;
        }
        let mut cell = cell.clone();
        if event.how.reads && cell.written & bytes != bytes && !event.how.discards {
            self.uninitialised(event, at);
            cell.written |= bytes;
        }
        self.constants(event, &mut cell);
        let mut marks = vec![];
        marks.extend([cell.write, cell.read].into_iter().filter(|mark| mark.bytes & bytes != 0));
        marks.extend(self.shadow.more[cell.more as usize].iter().filter(|mark| mark.bytes & bytes != 0));
        for old in &marks {
            if let Some((conflict, actor)) = self.conflict(old, &mark, event) {
                self.conflicting(conflict, old, actor, event, at);
            }
        }
        if event.how.writes {
            cell.written = if event.how.discards { cell.written & !bytes } else { cell.written | bytes };
            self.put_write(&mut cell, mark);
        } else {
            self.put_read(&mut cell, mark, event.actor);
        }
        *self.shadow.cell(at, |_| true) = cell;
        strong
    }

    fn mark(&self, event: Event, epoch: u32) -> Mark {
        let bytes = 0;
        let scope = event.how.scope.map_or(0, |scope| 1 + level(scope) as u8);
        let (site, writes) = (event.site, event.how.writes);
        match event.engine {
            Some((who, epoch, _)) => {
                let lanes = (event.actor.block as usize * self.threads + event.actor.number) as u32;
                Mark { who, lanes, epoch, site, bytes, scope, writes, is_engine: true }
            }
            None => {
                let who = self.warp_of(event.actor);
                let lanes = 1 << (event.actor.number % LANES);
                Mark { who, lanes, epoch, site, bytes, scope, writes, is_engine: false }
            }
        }
    }

    fn warps(&self) -> usize {
        self.threads.div_ceil(LANES)
    }

    fn warp_of(&self, actor: Actor) -> u32 {
        (actor.block as usize * self.warps() + actor.number / LANES) as u32
    }

    /// The thread of a mark's lane; of an engine's mark, the one that began it.
    pub(super) fn actor_of(&self, mark: &Mark, lane: usize) -> Actor {
        if mark.is_engine {
            let number = mark.lanes as usize;
            return Actor { block: (number / self.threads) as u32, number: number % self.threads };
        }
        let (block, warp) = (mark.who as usize / self.warps(), mark.who as usize % self.warps());
        Actor { block: block as u32, number: warp * LANES + lane }
    }

    /// Whether an access and one before it do not go together, and the thread of the one before.
    fn conflict(&mut self, old: &Mark, new: &Mark, event: Event) -> Option<(Conflict, Actor)> {
        if !old.writes && !new.writes {
            return None;
        }
        self.state(event.actor);
        let state = &self.states[&u64::from(event.actor.block)][event.actor.number];
        if old.is_engine {
            let done = state.known.ordered.of_engine(old.who) >= old.epoch;
            return (!done).then(|| (Conflict::Async, self.actor_of(old, 0)));
        }
        let by_proxy = matches!(event.engine, Some((_, _, true)));
        for lane in lanes_of(old.lanes) {
            let actor = self.actor_of(old, lane);
            let own = actor == event.actor;
            if !own && !happened(state, old, actor) {
                match self.strong(old, new, actor, event.actor) {
                    Some(true) => continue,
                    Some(false) => return Some((Conflict::Narrow, actor)),
                    None => return Some((Conflict::Race, actor)),
                }
            }
            if by_proxy && old.writes && state.known.proxied.of_thread(actor.block, actor.number) < old.epoch {
                return Some((Conflict::Proxy, actor));
            }
        }
        None
    }

    /// Whether two accesses are morally strong: None, if one of them is weak.
    fn strong(&self, old: &Mark, new: &Mark, one: Actor, other: Actor) -> Option<bool> {
        if old.scope == 0 || new.scope == 0 || old.bytes != new.bytes {
            return None;
        }
        Some(usize::from(old.scope.min(new.scope)) > self.distance(one.block, other.block))
    }

    /// `.nc`, and the writes of the grid.
    fn constants(&mut self, event: Event, cell: &mut Cell) {
        if event.how.constant {
            if cell.write.bytes != 0 {
                let lane = cell.write.lanes.trailing_zeros() as usize;
                let actor = self.actor_of(&cell.write, lane);
                self.not_constant(event, (actor, cell.write.site), true);
            }
            cell.constant = event.site + 1;
        } else if event.how.writes && cell.constant != 0 {
            self.not_constant(event, (event.actor, cell.constant - 1), false);
        }
    }

    /// What a write covers is not remembered any longer.
    fn put_write(&mut self, cell: &mut Cell, mark: Mark) {
        let rest = !mark.bytes;
        if cell.more != 0 || cell.write.bytes & rest != 0 || cell.read.bytes & rest != 0 {
            let mut left: Vec<Mark> = std::mem::take(&mut self.shadow.more[cell.more as usize]);
            left.push(cell.write);
            left.push(cell.read);
            left.iter_mut().for_each(|mark| mark.bytes &= rest);
            left.retain(|mark| mark.bytes != 0);
            self.keep(cell, left);
        }
        (cell.write, cell.read) = (mark, Mark::default());
    }

    fn put_read(&mut self, cell: &mut Cell, mark: Mark, actor: Actor) {
        if joined(&mut cell.read, &mark) {
            return;
        }
        let known = &self.states[&u64::from(actor.block)][actor.number];
        let superseded = |old: &Mark| {
            !old.writes
                && old.bytes & !mark.bytes == 0
                && match old.is_engine {
                    true => known.known.ordered.of_engine(old.who) >= old.epoch,
                    false => lanes_of(old.lanes).all(|lane| {
                        let other = self.actor_of(old, lane);
                        other == actor || happened(known, old, other)
                    }),
                }
        };
        if cell.read.bytes == 0 || superseded(&cell.read) {
            cell.read = mark;
            return;
        }
        let mut left: Vec<Mark> = self.shadow.more[cell.more as usize].clone();
        if left.iter_mut().any(|old| joined(old, &mark)) {
            self.keep(cell, left);
            return;
        }
        left.retain(|old| !superseded(old));
        left.push(mark);
        if left.len() > MARKS {
            // Which one is forgotten depends on the access alone, so that a seed replays.
            let place = (mark.site as usize).wrapping_mul(31).wrapping_add(mark.who as usize) % MARKS;
            left.swap_remove(place);
        }
        self.keep(cell, left);
    }

    fn keep(&mut self, cell: &mut Cell, marks: Vec<Mark>) {
        if cell.more == 0 {
            if marks.is_empty() {
                return;
            }
            cell.more = self.shadow.more.len() as u32;
            self.shadow.more.push(marks);
        } else {
            self.shadow.more[cell.more as usize] = marks;
        }
    }
}

/// Remembers an access that meets no other one, which most do not.
#[inline]
fn alone(cell: &mut Cell, mark: &Mark, event: Event) -> bool {
    let how = event.how;
    if cell.more != 0 || how.constant || how.discards || how.writes && cell.constant != 0 {
        return false;
    }
    let has_value = cell.written & mark.bytes == mark.bytes;
    if how.writes {
        let none = cell.write.bytes == 0 || cell.write == (Mark { site: cell.write.site, ..*mark });
        if !none || cell.read.bytes != 0 || how.reads && !has_value {
            return false;
        }
        (cell.write, cell.written) = (*mark, cell.written | mark.bytes);
        return true;
    }
    if !has_value || cell.write.bytes & mark.bytes != 0 {
        return false;
    }
    if cell.read.bytes == 0 {
        cell.read = *mark;
        return true;
    }
    joined(&mut cell.read, mark)
}

/// Whether a mark's access by one thread happened before.
fn happened(state: &State, mark: &Mark, actor: Actor) -> bool {
    state.known.ordered.of_thread(actor.block, actor.number) >= mark.epoch
}

/// One mark for the threads of a warp that do the same.
fn joined(old: &mut Mark, new: &Mark) -> bool {
    let same = Mark { lanes: old.lanes, site: old.site, ..*new } == *old;
    if !same || old.is_engine || old.bytes == 0 {
        return false;
    }
    old.lanes |= new.lanes;
    old.site = new.site;
    true
}
