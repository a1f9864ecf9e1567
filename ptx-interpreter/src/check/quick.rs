//! Accesses that meet only what was ordered before them, which most do. They are looked at together, as far as the marks before
//! them are the same.

use std::ops::Range;

use super::checks::{Checks, Event, State};
use super::crowd::Crowd;
use super::mark::{CELL, Mark, WHOLE};
use super::marks::BLOCKS;
use super::shadow::{Busy, CELLS, Cell, Kept, PAGE, Page, Shadow};
#[cfg(test)]
pub(super) use super::short_ways::are_closed;
use crate::machine::lanes::LANES;
use crate::memory::spaces::{is_shared, is_tensor};
use crate::ptx::access::Memory;

/// A weak access by threads that know the same, or by an engine.
pub(super) struct Deed<'a> {
    pub(super) event: Event,
    pub(super) mark: &'a Mark,
    /// The set of this mark.
    pub(super) alone: u32,
    /// What a cell without further marks became last, and what it was.
    pub(super) became: Option<(Cell, Cell)>,
}

/// What threads know, and how many warps a block has.
pub(super) struct Knows<'a> {
    pub(super) state: &'a State,
    pub(super) warps: usize,
}

/// Whether no access has a short way: in a test alone.
#[cfg(not(test))]
pub(super) const fn are_closed() -> bool {
    false
}

impl Checks {
    /// Remembers an access of some bytes, which has the same mark in each cell. What has to be looked at closely is handed on.
    pub(super) fn quick(
        &mut self,
        event: Event,
        mark: &Mark,
        ranges: impl IntoIterator<Item = (u64, u64)>,
        closely: &mut dyn FnMut(&mut Checks, u64),
    ) {
        if mark.scope > 0 || event.how.discards || are_closed() {
            for (begin, end) in ranges {
                (begin / CELL * CELL..end).step_by(CELL as usize).for_each(|cell| closely(self, cell));
            }
            return;
        }
        self.shadow.tidy();
        self.threads_of(event.actor.block);
        let mut deed = None;
        for (begin, end) in ranges {
            let mut at = begin / CELL * CELL;
            while at < end {
                let (page, first) = (self.open(at), at % PAGE / CELL);
                let last = (first + (end - at).div_ceil(CELL)).min(CELLS as u64);
                let (cells, begin) = (first as usize..last as usize, at - first * CELL);
                if event.how.writes || !self.only_read(event, mark, (page, begin), cells.clone()) {
                    self.shadow.spread(page, begin);
                    let deed = match &mut deed {
                        Some(deed) => deed,
                        None => deed.insert(Deed { event, mark, alone: self.shadow.crowd.alone(*mark), became: None }),
                    };
                    self.in_page(deed, page, cells, begin, closely);
                }
                at += (last - first) * CELL;
            }
        }
    }

    /// Remembers a read where nobody has written.
    fn only_read(&mut self, event: Event, mark: &Mark, (page, begin): (usize, u64), cells: Range<usize>) -> bool {
        if !self.may_be_read(event, page, cells.clone(), mark.bytes)
            || !self.shadow.read((page, begin), mark, cells.clone())
        {
            return false;
        }
        if event.how.constant {
            self.shadow.pages[page].are_constant_now(cells, event.site);
        }
        true
    }

    /// Whether bytes have values, or are only brought to registers: what these lack is followed there.
    fn may_be_read(&mut self, event: Event, page: usize, cells: Range<usize>, bytes: u8) -> bool {
        if self.shadow.pages[page].have_values(cells, bytes) {
            return true;
        }
        let may_be_reserved = self.reserved.is_some() && is_shared(event.address);
        let is_brought = self.brings_to_registers && !event.how.writes && !event.how.is_of_barrier && !may_be_reserved;
        self.brings_unwritten |= is_brought;
        is_brought
    }

    fn in_page(
        &mut self,
        deed: &mut Deed<'_>,
        page: usize,
        cells: Range<usize>,
        begin: u64,
        closely: &mut dyn FnMut(&mut Checks, u64),
    ) {
        let mut first = cells.start;
        while first < cells.end {
            let own = &self.shadow.pages[page].cells;
            let old = own[first];
            let next = first + own[first..cells.end].iter().take_while(|cell| **cell == old).count();
            if !self.done(deed, page, first..next, None) {
                for cell in first..next {
                    let at = begin + cell as u64 * CELL;
                    if !self.done(deed, page, cell..cell + 1, Some(at)) {
                        closely(self, at);
                        deed.became = None;
                    }
                }
            }
            first = next;
        }
    }

    /// Does it in cells whose marks are the same, or in the one at an address, unless that has to be looked at closely.
    fn done(&mut self, deed: &mut Deed<'_>, page: usize, cells: Range<usize>, at: Option<u64>) -> bool {
        let (how, bytes) = (deed.event.how, deed.mark.bytes);
        if how.reads && !self.may_be_read(deed.event, page, cells.clone(), bytes) {
            return false;
        }
        let own = &self.shadow.pages[page];
        if how.writes && own.are_constant(cells.clone()) {
            return false;
        }
        let old = own.cells[cells.start];
        let new = match deed.became {
            Some((before, after)) if before == old && at.is_none() => Some(after),
            _ => self.becomes(deed, old, at),
        };
        let Some(new) = new else { return false };
        let page = &mut self.shadow.pages[page];
        if new != old {
            page.cells[cells.clone()].fill(new);
        }
        if how.writes {
            page.have_values_now(cells, bytes);
        } else if how.constant {
            page.are_constant_now(cells, deed.event.site);
        }
        true
    }

    /// What a cell becomes, unless that has to be looked at closely.
    fn becomes(&mut self, deed: &mut Deed<'_>, old: Cell, at: Option<u64>) -> Option<Cell> {
        let actor = deed.event.actor;
        let knows = Knows { state: &self.states[&u64::from(actor.block)][actor.number], warps: self.warps() };
        if old.has_more() {
            return at.and_then(|at| knows.meets(&mut self.shadow, deed, old, at));
        }
        let new = knows.joined(&mut self.shadow.crowd, deed, old, at)?;
        if at.is_none() {
            deed.became = Some((old, new));
        }
        Some(new)
    }
}

impl Knows<'_> {
    /// The mark of a cell after a deed whose marks are elsewhere, if nothing has to be looked at closely.
    pub(super) fn meets(&self, shadow: &mut Shadow, deed: &Deed<'_>, old: Cell, at: u64) -> Option<Cell> {
        match deed.event.how.writes {
            true => self.replaces(shadow, deed, old, at),
            false => self.reads(shadow.more_of(old), deed, at).then_some(old),
        }
    }

    /// After one that writes, if all comes before.
    fn replaces(&self, shadow: &mut Shadow, deed: &Deed<'_>, old: Cell, at: u64) -> Option<Cell> {
        let stands_for =
            |kept: &Kept| kept.mark.bytes & !deed.mark.bytes == 0 && self.is_before(&kept.mark, deed, Some(at));
        if !shadow.more(old).all(stands_for) {
            return None;
        }
        shadow.forget_more(old);
        Some(Cell { writes: deed.alone, reads: 0 })
    }

    /// One that reads stays beside them, if all writes come before.
    fn reads(&self, busy: &mut Busy, deed: &Deed<'_>, at: u64) -> bool {
        let (how, bytes) = (deed.event.how, deed.mark.bytes);
        let mut marks = deed.mark.at(at);
        let (Some(mark), None) = (marks.next(), marks.next()) else { return false };
        let is_before = |kept: &Kept| self.is_before(&kept.mark, deed, Some(at));
        let goes = |kept: &Kept| !kept.mark.writes || kept.mark.bytes & bytes == 0 || is_before(kept);
        let are_few = busy.kept.len() < BLOCKS;
        if mark.is_engine || how.constant || how.cached || !are_few || !busy.kept.iter().all(goes) {
            return false;
        }
        busy.forget_older_reads(&mark);
        if !busy.join(&mark) {
            busy.kept.retain(|kept| kept.mark.writes || kept.mark.bytes & !bytes != 0 || !is_before(kept));
            busy.kept.push(Kept { mark, ..Kept::default() });
        }
        true
    }

    /// The marks of cells after a deed, if nothing has to be looked at closely.
    #[inline]
    fn joined(&self, crowd: &mut Crowd, deed: &Deed<'_>, old: Cell, at: Option<u64>) -> Option<Cell> {
        let (how, bytes) = (deed.event.how, deed.mark.bytes);
        let before = |mark: &Mark| self.is_before(mark, deed, at);
        let stands_for = |mark: &Mark| mark.bytes & !bytes == 0 && before(mark);
        if how.writes {
            let all = crowd.all(old.writes, stands_for) && crowd.all(old.reads, stands_for);
            return all.then_some(Cell { writes: deed.alone, reads: 0 });
        }
        let goes = crowd.all(old.writes, |mark| mark.bytes & bytes == 0 || before(mark));
        if !goes || (how.constant || how.cached) && old.writes != 0 {
            return None;
        }
        if crowd.all(old.reads, stands_for) {
            return Some(Cell { reads: deed.alone, ..old });
        }
        // Reads by engines are not put together.
        let is_engine = deed.mark.is_engine || crowd.newest(old.reads).is_engine;
        (!is_engine).then(|| Cell { reads: crowd.with(old.reads, deed.alone), ..old })
    }

    /// Whether what a mark stands for comes before: in one cell, or in all.
    #[inline]
    pub(super) fn is_before(&self, old: &Mark, deed: &Deed<'_>, at: Option<u64>) -> bool {
        let (new, known) = (deed.mark, &self.state.known);
        if old.alias != new.alias {
            return false;
        }
        if is_tensor(deed.event.address) && deed.event.engine.is_some() {
            return old.who == new.who || self.state.tensor.of_engine(old.who) >= old.epoch;
        }
        if old.is_engine {
            return known.ordered.of_engine(old.who) >= old.epoch;
        }
        if old.is_as(new) {
            return true;
        }
        let lanes = match at {
            None => old.lanes,
            Some(cell) => {
                let (lanes, own) = (old.lanes_at(cell), new.lanes_at(cell));
                let is_own = old.who == new.who && !new.is_engine && own.is_power_of_two();
                if is_own { lanes & !own } else { lanes }
            }
        };
        let (block, warp) = (old.who / self.warps as u32, old.who as usize % self.warps);
        let proxied = deed.event.engine.filter(|(_, _, by_proxy)| *by_proxy).map(|_| {
            let memory = if is_shared(deed.event.address) { Memory::Shared } else { Memory::Global };
            &known.proxied[memory as usize]
        });
        let has = |clock: &super::clock::Clock| lanes == 0 || clock.has(block, warp * LANES, lanes, old.epoch);
        has(&known.ordered) && proxied.is_none_or(has)
    }
}

impl Page {
    #[inline]
    pub(super) fn have_values(&self, cells: Range<usize>, bytes: u8) -> bool {
        match bytes {
            WHOLE if cells.start.is_multiple_of(2) && cells.end.is_multiple_of(2) => {
                self.written[cells.start / 2..cells.end / 2].iter().all(|pair| *pair == u8::MAX)
            }
            _ => cells.into_iter().all(|cell| self.values(cell) & bytes == bytes),
        }
    }

    #[inline]
    pub(super) fn have_values_now(&mut self, cells: Range<usize>, bytes: u8) {
        match bytes {
            WHOLE if cells.start.is_multiple_of(2) && cells.end.is_multiple_of(2) => {
                self.written[cells.start / 2..cells.end / 2].fill(u8::MAX);
            }
            _ => cells.into_iter().for_each(|cell| self.set_values(cell, self.values(cell) | bytes)),
        }
    }

    fn are_constant_now(&mut self, cells: Range<usize>, site: u32) {
        self.constant.get_or_insert_with(|| Box::new([0; CELLS]))[cells].fill(site + 1);
    }

    #[inline]
    pub(super) fn are_constant(&self, cells: Range<usize>) -> bool {
        self.constant.as_ref().is_some_and(|constant| constant[cells].iter().any(|site| *site != 0))
    }
}
