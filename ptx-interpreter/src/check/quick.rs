//! Accesses that meet only what was ordered before them, which most do.

use super::checks::{Checks, Event, State};
use super::marks::joined;
use super::shadow::{Cell, Mark};
use crate::lanes::LANES;

impl Checks {
    /// Remembers a weak access of a cell that has weak ones alone, unless it has to be looked at closely.
    #[inline]
    pub(super) fn quick(&mut self, at: u64, mark: &Mark, event: Event) -> bool {
        let how = event.how;
        let warps = self.threads.div_ceil(LANES);
        let Some(states) = self.states.get(&u64::from(event.actor.block)) else { return false };
        let state = &states[event.actor.number];
        let shadow = &mut self.shadow;
        shadow.tidy();
        let Some((cell, crowd)) = shadow.known_cell(at) else { return false };
        if cell.more != 0 || mark.scope > 0 || how.discards || how.writes && cell.constant != 0 {
            return false;
        }
        let before = |old: &Mark| old.bytes == 0 || event.engine.is_none() && is_before(state, old, mark, warps);
        let has_value = cell.written & mark.bytes == mark.bytes;
        if how.reads && !has_value || how.constant && cell.write.bytes != 0 {
            return false;
        }
        if how.writes {
            let covers = |old: &Mark| old.bytes & !mark.bytes == 0 && before(old);
            let rest = |cell: &Cell| crowd.readers(cell.readers).all(|old| covers(&old));
            if !covers(&cell.write) || !covers(&cell.read) || !rest(cell) {
                return false;
            }
            *cell = Cell { write: *mark, written: cell.written | mark.bytes, ..Cell::default() };
            return true;
        }
        if cell.write.bytes & mark.bytes != 0 && !before(&cell.write) || mark.is_engine {
            return false;
        }
        if how.constant {
            cell.constant = event.site + 1;
        }
        let covered = |old: &Mark| old.bytes & !mark.bytes == 0 && before(old);
        if joined(&mut cell.read, mark) {
        } else if covered(&cell.read) && crowd.readers(cell.readers).all(|old| covered(&old)) {
            (cell.read, cell.readers) = (*mark, 0);
        } else {
            cell.readers = crowd.with(cell.readers, *mark);
        }
        true
    }
}

/// Whether what a mark stands for comes before what one thread does now.
#[inline]
fn is_before(state: &State, old: &Mark, new: &Mark, warps: usize) -> bool {
    if old.is_engine {
        return false;
    }
    let lanes = if old.who == new.who && !new.is_engine { old.lanes & !new.lanes } else { old.lanes };
    let (block, warp) = (old.who / warps as u32, old.who as usize % warps);
    lanes == 0 || state.known.ordered.has(block, warp * LANES, lanes, old.epoch)
}
