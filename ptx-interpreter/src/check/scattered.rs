//! Lanes of a warp that access elements in no order, as when they sort. Their accesses have one mark, and each cell has its lane.

use super::accesses::values;
use super::checks::Checks;
use super::crowd::{Crowd, in_lane, lane, number};
use super::mark::{CELL, Mark, Row};
use super::quick::{Deed, Knows, are_closed};
use super::shadow::{Cell, PAGE};
use super::together::Together;
use crate::machine::lanes::lanes_of;

/// A set, and whether all that its marks stand for comes before.
#[derive(Default)]
struct Answer {
    set: u32,
    is_before: bool,
}

impl Answer {
    /// The answer is the same for all cells that have a set, but for a lane that meets its own access.
    #[inline]
    fn is_before(&mut self, crowd: &Crowd, knows: &Knows<'_>, deed: &Deed<'_>, (set, own): (u32, usize)) -> bool {
        if set == 0 {
            return true;
        }
        if self.set != number(set) {
            let is_before = match crowd.apart(set) {
                Some(mark) => knows.is_before(mark, deed, None),
                None => crowd.marks(set).all(|mark| knows.is_before(&mark, deed, None)),
            };
            *self = Answer { set: number(set), is_before };
        }
        let is_own = |mark: &Mark| (mark.who, mark.alias, mark.is_engine) == (deed.mark.who, deed.mark.alias, false);
        self.is_before || lane(set) == own && crowd.apart(set).is_some_and(is_own)
    }
}

impl Checks {
    /// Remembers weak accesses of lanes that know the same, to whole cells, up to the first one that may meet what was not ordered before.
    /// Gives the other lanes, of which that is the lowest.
    pub(super) fn scattered(&mut self, together: &Together<'_>, lanes: u32) -> u32 {
        let Together { how, addresses, bytes, block, .. } = *together;
        let event = together.event(lanes.trailing_zeros() as usize);
        if are_closed() || how.constant || how.cached || how.discards || !bytes.is_multiple_of(CELL as usize) {
            return lanes;
        }
        self.shadow.tidy();
        let epoch = self.known_state(event.actor).epoch;
        let mark = Mark { lanes, row: Row::APART, ..self.mark(event, epoch) };
        let deed = Deed { event, mark: &mark, alone: self.shadow.crowd.alone(mark), became: None };
        let warps = self.warps();
        let Checks { shadow, states, pieces, fresh, .. } = self;
        let knows = Knows { state: &states[&u64::from(block)][event.actor.number], warps };
        let (mut writes, mut reads) = (Answer::default(), Answer::default());
        let from = |lane: usize| lanes & u32::MAX << lane;
        for lane in lanes_of(lanes) {
            let (address, own) = (addresses[lane], in_lane(deed.alone, lane));
            let number = shadow.open(address, |page| values(pieces, *fresh, page));
            let page = &mut *shadow.pages[number];
            let first = (address % PAGE / CELL) as usize;
            let cells = first..first + bytes / CELL as usize;
            if !address.is_multiple_of(CELL)
                || page.cells.is_empty()
                || how.reads && !page.have_values(cells.clone(), mark.bytes)
                || how.writes && page.are_constant(cells.clone())
            {
                return from(lane);
            }
            let old = page.cells[first];
            if cells.len() == 1 && old.has_more() {
                let mark = Mark { lanes: 1 << lane, row: Row::default(), ..mark };
                let deed = Deed { event: together.event(lane), mark: &mark, alone: own, became: None };
                let Some(new) = knows.meets(shadow, &deed, old, address) else { return from(lane) };
                let page = &mut *shadow.pages[number];
                page.cells[first] = new;
                if how.writes {
                    page.have_values_now(cells, mark.bytes);
                }
                continue;
            }
            let crowd = &shadow.crowd;
            let goes = |cell: &Cell| {
                !cell.has_more()
                    && writes.is_before(crowd, &knows, &deed, (cell.writes, lane))
                    && reads.is_before(crowd, &knows, &deed, (cell.reads, lane))
            };
            if !page.cells[cells.clone()].iter().all(goes) {
                return from(lane);
            }
            if how.writes {
                page.cells[cells.clone()].fill(Cell { writes: own, reads: 0 });
                page.have_values_now(cells, mark.bytes);
            } else {
                page.cells[cells].iter_mut().for_each(|cell| cell.reads = own);
            }
        }
        0
    }
}
