//! An access meets those before it.

use super::actor::Actor;
use super::checks::{Checks, Event};
use super::discards::Discard;
use super::mark::{CELL, Mark, Row, WHOLE};
use super::marks::{happened, observed};
use super::pieces::Pieces;
use super::record::Numbers;
use super::shadow::{CELLS, Kept, PAGE, Values};
use crate::machine::lanes::{LANES, lanes_of};
use crate::memory::spaces::{Owner, is_heap, is_shared, is_tensor, owner};
use crate::ptx::access::{How, Memory};

/// Why two accesses do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    Race,
    /// Both are strong, and the scope of one is too narrow.
    Narrow,
    /// Both are volatile, of a warp whose threads need not go on together.
    Lockstep,
    Proxy,
    /// The two name the bytes by different virtual addresses.
    Alias,
    Async,
    /// `tcgen05` instructions of two threads, which a fence of `tcgen05` has to order.
    Fence,
}

impl Event {
    /// Its bytes: those of a first cell, of whole cells and of a last one, as far as there are such.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u8, u64, u64)> + use<> {
        let (begin, end) = (self.address, self.address + self.bytes as u64);
        let (whole, last) = (begin.next_multiple_of(CELL).min(end), end / CELL * CELL);
        let bytes = |begin: u64, end: u64| (((1u16 << (end - begin)) - 1) << (begin % CELL)) as u8;
        let parts = match last < whole {
            true => [(bytes(begin, end), begin, end), (0, 0, 0), (0, 0, 0)],
            false => [(bytes(begin, whole), begin, whole), (WHOLE, whole, last), (bytes(last, end), last, end)],
        };
        parts.into_iter().filter(|(_, begin, end)| begin < end)
    }

    /// Whether it is of another block's shared memory, where each block is a cluster of its own.
    #[inline]
    pub(super) fn is_of_other_block(&self) -> bool {
        is_shared(self.address) && owner(self.address, 1).0 != Owner::Shared(self.actor.block as usize)
    }
}

impl Checks {
    /// Checks an access and remembers it.
    pub(crate) fn access(&mut self, event: Event) {
        self.access_rewriting(event, &|_| false);
    }

    /// The same, of one that may write what is there, or what others of its warp write.
    pub(crate) fn access_rewriting(&mut self, event: Event, rewrites: &dyn Fn(u32) -> bool) {
        if self.has_other_address(event) {
            return self.by_first_address(event).for_each(|event| self.access_named(event, rewrites));
        }
        self.access_named(event, rewrites);
    }

    fn access_named(&mut self, event: Event, rewrites: &dyn Fn(u32) -> bool) {
        if event.engine.is_some() && event.how.reads {
            self.engine_reads(event);
        }
        if event.how.discards {
            let Event { actor, site, address, bytes, .. } = event;
            self.discards.add(Discard { by: (actor, site), address, bytes });
        }
        self.stays(event);
        self.visits(event);
        self.compare(event, true, rewrites);
    }

    /// A copy tells a barrier. That is ordered as an access by the thread that began the copy, and done when the copy is.
    pub(crate) fn arrival_of_copy(&mut self, event: Event, engine: (u32, u32, bool)) {
        self.stays(event);
        self.visits(Event { how: How::WRITE, engine: Some(engine), ..event });
        self.compare(event, true, &|_| false);
    }

    /// Compares an access with those before, and remembers it. A read that is performed late observes nothing yet.
    pub(super) fn compare(&mut self, event: Event, observes: bool, rewrites: &dyn Fn(u32) -> bool) {
        self.threads_of(event.actor.block);
        if observes && event.how.scope.is_some_and(|scope| self.is_in_chain(event, scope)) {
            return;
        }
        let (mut observed, continued) = match event.how.scope {
            Some(scope) if event.how.reads && observes => self.strong_read(event, scope),
            _ => (Numbers::new(), None),
        };
        let number = match event.how.scope {
            Some(_) if event.how.writes => {
                self.writes += 1;
                self.writes
            }
            _ => 0,
        };
        let mark = self.mark(event, self.known_state(event.actor).epoch);
        for (bytes, begin, end) in event.parts() {
            let mark = Mark { bytes, ..mark };
            let mut closely =
                |checks: &mut Checks, at| checks.closely(event, mark, (number, &mut observed), at, rewrites);
            self.quick(event, &mark, [(begin, end)], &mut closely);
        }
        if let Some(scope) = event.how.scope.filter(|_| event.how.writes) {
            self.strong_write(event, scope, number, (observed, continued));
        }
        if let Some(history) = &mut self.history {
            history.observed = None;
        }
    }

    /// What an access has to outlive, or to wait for.
    pub(super) fn visits(&mut self, event: Event) {
        if is_shared(event.address) && (self.cluster > 1 || event.engine.is_some() || event.is_of_other_block()) {
            self.visit(event);
        }
        if self.has_grid_before {
            self.of_the_grid_before(event);
        }
        if self.peers.is_some() {
            self.comes_after_peers(event);
        }
        if event.how.writes && self.has_map_reads() {
            self.overwrites_map(event);
        }
    }

    /// The page of an address.
    #[inline]
    pub(super) fn open(&mut self, address: u64) -> usize {
        let (pieces, fresh) = (&self.pieces, self.fresh);
        self.shadow.open(address, |page| values(pieces, fresh, page))
    }

    /// An access by one thread to a cell, among whose marks there may be some that do not go together with it. It may write the same
    /// as others of its warp, or what is there already.
    pub(super) fn closely(
        &mut self,
        event: Event,
        mark: Mark,
        (number, observed): (u32, &mut Numbers),
        at: u64,
        rewrites: &dyn Fn(u32) -> bool,
    ) {
        let bytes = mark.bytes;
        let (page, cell) = (self.open(at), (at % PAGE / CELL) as usize);
        self.shadow.spread(page, at / PAGE * PAGE);
        let mut written = self.shadow.pages[page].values(cell);
        if event.how.reads && written & bytes != bytes && !event.how.discards {
            self.reads_unwritten(event, at);
        }
        self.constants(event, (page, cell), at, bytes);
        let mut busy = self.shadow.take((page, cell), at);
        let before = self.comes_after(event, &mark, (at, &busy.kept));
        let mut twins = Vec::new();
        for (place, old) in busy.kept.iter().enumerate().filter(|(_, old)| old.mark.bytes & bytes != 0) {
            match self.conflict(old, &mark, event) {
                Some((Conflict::Race, _))
                    if self.is_twin(&old.mark, &mark) && rewrites(lanes_beside(&old.mark, &mark)) =>
                {
                    twins.push(place);
                }
                Some((conflict, actor)) => self.conflicting(conflict, &old.mark, actor, event, at),
                None => {}
            }
        }
        // What reads the value later has to be ordered after both.
        let twins: Vec<Kept> = twins.into_iter().rev().map(|place| busy.kept.remove(place)).collect();
        if event.how.writes {
            written = if event.how.discards { written & !bytes } else { written | bytes };
        }
        if event.how.reads && event.how.writes && mark.scope > 0 {
            observed.extend(busy.own_weak_write(&mark, self.reads_own(), &mut self.writes));
        }
        self.keep(&mut busy, event, Kept { mark, number, observers: None, before }, observed);
        if !twins.is_empty() {
            busy.kept.splice(..0, twins.into_iter().rev());
        }
        self.shadow.put((page, cell), busy);
        self.shadow.pages[page].set_values(cell, written);
    }

    /// Whether two stores are of one instruction or of one line of the source, by threads of one block. If they write the same, it
    /// makes no difference which one comes last.
    fn is_twin(&self, old: &Mark, new: &Mark) -> bool {
        let is_weak_write = |mark: &Mark| mark.writes && mark.scope == 0 && !mark.is_engine;
        let block = |mark: &Mark| mark.who as usize / self.warps();
        is_weak_write(old)
            && is_weak_write(new)
            && (old.bytes, block(old)) == (new.bytes, block(new))
            && self.sites.are_of_one_line(old.site, new.site)
    }

    pub(super) fn mark(&self, event: Event, epoch: u32) -> Mark {
        let (bytes, row) = (WHOLE, Row::default());
        let scope = event.how.scope.map_or(0, |scope| 1 + self.level(scope) as u8);
        let size = if scope > 0 { event.bytes as u8 } else { 0 };
        let (site, writes, alias) = (event.site, event.how.writes, event.how.alias);
        match event.engine {
            Some((who, epoch, _)) => {
                let lanes = (event.actor.block as usize * self.threads + event.actor.number) as u32;
                Mark { who, lanes, epoch, site, bytes, size, scope, writes, is_engine: true, alias, row }
            }
            None => {
                let who = self.warp_of(event.actor);
                let lanes = 1 << (event.actor.number % LANES);
                Mark { who, lanes, epoch, site, bytes, size, scope, writes, is_engine: false, alias, row }
            }
        }
    }

    pub(super) fn warps(&self) -> usize {
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
    fn conflict(&self, kept: &Kept, new: &Mark, event: Event) -> Option<(Conflict, Actor)> {
        let old = &kept.mark;
        if !old.writes && !new.writes {
            return None;
        }
        let state = self.known_state(event.actor);
        if is_tensor(event.address) {
            return self.conflict_in_tensor(old, event);
        }
        if old.is_engine {
            let done = state.known.ordered.of_engine(old.who) >= old.epoch;
            let actor = self.actor_of(old, 0);
            // Two reductions of a value are atomics, whichever comes first.
            let goes = done || self.strong(old, new, actor, event.actor) == Some(true);
            let is_hidden = old.alias != new.alias && !state.has_fenced(old, actor);
            let conflict = if goes { is_hidden.then_some(Conflict::Alias) } else { Some(Conflict::Async) };
            return conflict.map(|conflict| (conflict, actor));
        }
        let by_proxy = matches!(event.engine, Some((_, _, true)));
        if !by_proxy && old.alias == new.alias && self.go_together(old, new, event) {
            return None;
        }
        let memory = if is_shared(event.address) { Memory::Shared } else { Memory::Global };
        let proxied = &state.known.proxied[memory as usize];
        for lane in lanes_of(old.lanes) {
            let actor = self.actor_of(old, lane);
            let ordered = actor == event.actor
                || actor.block == event.actor.block && event.how.ends_barrier
                || happened(state, old.epoch, actor)
                || observed(state, kept, event.actor)
                || self.comes_by_late(event, (actor, old.epoch));
            if !ordered {
                match self.strong(old, new, actor, event.actor) {
                    Some(true) if self.counts_on_lockstep(old, actor, event) => {
                        return Some((Conflict::Lockstep, actor));
                    }
                    Some(true) if old.alias != new.alias => return Some((Conflict::Alias, actor)),
                    Some(true) => continue,
                    Some(false) => return Some((Conflict::Narrow, actor)),
                    None if self.is_told_of_init(event.actor, event.address, (actor, old.site)) => continue,
                    None => return Some((Conflict::Race, actor)),
                }
            }
            if by_proxy && proxied.of_thread(actor.block, actor.number) < old.epoch {
                return Some((Conflict::Proxy, actor));
            }
            if old.alias != new.alias && !state.has_fenced(old, actor) {
                return Some((Conflict::Alias, actor));
            }
        }
        None
    }

    /// Whether an access goes together with that of a whole warp, in whichever order they are.
    fn go_together(&self, old: &Mark, new: &Mark, event: Event) -> bool {
        let first = self.actor_of(old, 0);
        self.strong(old, new, first, event.actor) == Some(true) && !self.counts_on_lockstep(old, first, event)
    }

    /// Whether a thread reads from shared memory by `volatile` what another one of its warp has stored so: it counts on it that
    /// both go on together.
    fn counts_on_lockstep(&self, old: &Mark, actor: Actor, event: Event) -> bool {
        old.writes
            && event.how.reads
            && is_shared(event.address)
            && actor.is_in_warp_of(event.actor)
            && [old.site, event.site].into_iter().all(|site| self.sites.is_volatile(site))
    }

    /// Whether two accesses are morally strong: None, if one of them is weak or is of other bytes.
    fn strong(&self, old: &Mark, new: &Mark, one: Actor, other: Actor) -> Option<bool> {
        if old.scope == 0 || new.scope == 0 || (old.bytes, old.size) != (new.bytes, new.size) {
            return None;
        }
        Some(usize::from(old.scope.min(new.scope)) > self.distance(one.block, other.block))
    }

    /// `.nc`, and the writes of the grid.
    fn constants(&mut self, event: Event, (page, cell): (usize, usize), at: u64, bytes: u8) {
        if event.how.cached {
            self.not_written(event, (page, cell), at, bytes);
        } else if event.how.constant {
            self.not_written(event, (page, cell), at, WHOLE);
            let constant = &mut self.shadow.pages[page].constant;
            constant.get_or_insert_with(|| Box::new([0; CELLS]))[cell] = event.site + 1;
        } else if event.how.writes {
            let site = self.shadow.pages[page].constant.as_ref().map_or(0, |constant| constant[cell]);
            if site != 0 {
                let actor = self.reader_by((page, cell), at, site - 1).unwrap_or(event.actor);
                self.not_constant(event, (actor, site - 1), false);
            }
        }
    }

    /// A thread that has read a cell by an instruction, if the shadow remembers one.
    fn reader_by(&self, (page, cell): (usize, usize), at: u64, site: u32) -> Option<Actor> {
        let read = self.shadow.read_by((page, cell), at, site)?;
        Some(self.actor_of(&read, read.lanes.trailing_zeros() as usize))
    }

    /// The grid must not have written some bytes of a cell.
    fn not_written(&mut self, event: Event, (page, cell): (usize, usize), at: u64, bytes: u8) {
        if let Some(write) = self.shadow.write_of((page, cell), at, bytes) {
            let actor = self.actor_of(&write, write.lanes.trailing_zeros() as usize);
            self.not_constant(event, (actor, write.site), true);
        }
    }
}

/// The lanes of a mark, if it is of the same warp as another one.
fn lanes_beside(old: &Mark, new: &Mark) -> u32 {
    if old.who == new.who { old.lanes } else { 0 }
}

/// Which bytes of a page have values from the beginning. What the heap gives from `fresh` on has none.
pub(super) fn values(pieces: &Pieces, fresh: u64, page: u64) -> Values {
    if is_heap(page) {
        return [if page >= fresh { 0 } else { u8::MAX }; CELLS / 2];
    }
    let mut values = [if is_shared(page) || is_tensor(page) { 0 } else { u8::MAX }; CELLS / 2];
    for (begin, end) in pieces.unwritten(page, page + PAGE) {
        (begin..end).for_each(|byte| values[(byte - page) as usize / 8] &= !(1 << (byte % 8)));
    }
    values
}
