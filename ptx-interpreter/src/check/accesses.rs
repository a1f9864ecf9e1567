//! An access meets those before it.

use super::actor::Actor;
use super::checks::{Checks, Event, level};
use super::marks::{happened, observed};
use super::shadow::{CELL, Cell, Kept, Mark};
use crate::access::Memory;
use crate::lanes::{LANES, lanes_of};
use crate::spaces::is_shared;

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
    /// Checks an access and remembers it.
    pub(crate) fn access(&mut self, event: Event, fresh: impl Fn(u64) -> bool + Copy) {
        if (self.cluster > 1 || event.engine.is_some()) && is_shared(event.address) {
            self.visit(event);
        }
        if self.has_grid_before {
            self.of_the_grid_before(event);
        }
        let (begin, end) = (event.address, event.address + event.bytes as u64);
        let mut cell_at = begin / CELL * CELL;
        let mut observed = match event.how.scope {
            Some(scope) if event.how.reads => self.strong_read(event, scope),
            _ => Vec::new(),
        };
        let number = match event.how.scope {
            Some(_) if event.how.writes => {
                self.writes += 1;
                self.writes
            }
            _ => 0,
        };
        let epoch = self.state(event.actor).epoch;
        let mark = self.mark(event, epoch);
        while cell_at < end {
            let from = begin.max(cell_at) - cell_at;
            let to = end.min(cell_at + CELL) - cell_at;
            let bytes = ((1u16 << to) - (1 << from)) as u8;
            self.cell(event, Mark { bytes, ..mark }, (number, &mut observed), cell_at, fresh);
            cell_at += CELL;
        }
        if let Some(scope) = event.how.scope.filter(|_| event.how.writes) {
            self.strong_write(event, scope, number, observed);
        }
        if let Some(history) = &mut self.history {
            // A weak read observes nothing.
            history.chosen();
        }
    }

    fn cell(
        &mut self,
        event: Event,
        mark: Mark,
        (number, observed): (u32, &mut Vec<u32>),
        at: u64,
        fresh: impl Fn(u64) -> bool,
    ) {
        if self.quick(at, &mark, event) {
            return;
        }
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
        let mut cell = self.shadow.cell(at, written).clone();
        if event.how.reads && cell.written & bytes != bytes && !event.how.discards {
            self.uninitialised(event, at);
            cell.written |= bytes;
        }
        self.constants(event, &mut cell);
        let mut busy = self.shadow.take(&mut cell);
        for old in busy.kept.iter().filter(|old| old.mark.bytes & bytes != 0) {
            if let Some((conflict, actor)) = self.conflict(old, &mark, event) {
                self.conflicting(conflict, &old.mark, actor, event, at);
            }
        }
        if event.how.writes {
            cell.written = if event.how.discards { cell.written & !bytes } else { cell.written | bytes };
        }
        if event.how.reads && event.how.writes && mark.scope > 0 {
            observed.extend(busy.own_weak_write(&mark, &mut self.writes));
        }
        self.keep(&mut busy, event, Kept { mark, number, observers: Vec::new() }, observed);
        self.shadow.put(&mut cell, busy);
        *self.shadow.cell(at, |_| true) = cell;
    }

    fn mark(&self, event: Event, epoch: u32) -> Mark {
        let bytes = 0;
        let scope = event.how.scope.map_or(0, |scope| 1 + level(scope) as u8);
        let size = if scope > 0 { event.bytes as u8 } else { 0 };
        let (site, writes) = (event.site, event.how.writes);
        match event.engine {
            Some((who, epoch, _)) => {
                let lanes = (event.actor.block as usize * self.threads + event.actor.number) as u32;
                Mark { who, lanes, epoch, site, bytes, size, scope, writes, is_engine: true }
            }
            None => {
                let who = self.warp_of(event.actor);
                let lanes = 1 << (event.actor.number % LANES);
                Mark { who, lanes, epoch, site, bytes, size, scope, writes, is_engine: false }
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
    fn conflict(&mut self, kept: &Kept, new: &Mark, event: Event) -> Option<(Conflict, Actor)> {
        let old = &kept.mark;
        if !old.writes && !new.writes {
            return None;
        }
        self.state(event.actor);
        let state = &self.states[&u64::from(event.actor.block)][event.actor.number];
        if old.is_engine {
            let done = state.known.ordered.of_engine(old.who) >= old.epoch;
            let actor = self.actor_of(old, 0);
            // Two reductions of a value are atomics, whichever comes first.
            let goes = done || self.strong(old, new, actor, event.actor) == Some(true);
            return (!goes).then_some((Conflict::Async, actor));
        }
        let by_proxy = matches!(event.engine, Some((_, _, true)));
        let memory = if is_shared(event.address) { Memory::Shared } else { Memory::Global };
        let proxied = &state.known.proxied[memory as usize];
        for lane in lanes_of(old.lanes) {
            let actor = self.actor_of(old, lane);
            let ordered =
                actor == event.actor || happened(state, old.epoch, actor) || observed(state, kept, event.actor);
            if !ordered {
                match self.strong(old, new, actor, event.actor) {
                    Some(true) => continue,
                    Some(false) => return Some((Conflict::Narrow, actor)),
                    None => return Some((Conflict::Race, actor)),
                }
            }
            if by_proxy && proxied.of_thread(actor.block, actor.number) < old.epoch {
                return Some((Conflict::Proxy, actor));
            }
        }
        None
    }

    /// Whether two accesses are morally strong: None, if one of them is weak or is of other bytes.
    fn strong(&self, old: &Mark, new: &Mark, one: Actor, other: Actor) -> Option<bool> {
        if old.scope == 0 || new.scope == 0 || (old.bytes, old.size) != (new.bytes, new.size) {
            return None;
        }
        Some(usize::from(old.scope.min(new.scope)) > self.distance(one.block, other.block))
    }

    /// `.nc`, and the writes of the grid.
    fn constants(&mut self, event: Event, cell: &mut Cell) {
        if event.how.constant {
            if let Some(write) = self.shadow.write_of(cell) {
                let actor = self.actor_of(&write, write.lanes.trailing_zeros() as usize);
                self.not_constant(event, (actor, write.site), true);
            }
            cell.constant = event.site + 1;
        } else if event.how.writes && cell.constant != 0 {
            self.not_constant(event, (event.actor, cell.constant - 1), false);
        }
    }
}
