//! Who has read the bytes of a page that nobody has written yet.
//!
//! Most memory that many threads read is never written. A page of it remembers of each reader the cells, and not of each cell
//! the readers. When somebody writes there, its cells get their marks.

use std::ops::Range;

use super::mark::{CELL, CELLS, Mark, QuickMap, Row, place};

/// Readings, at most. When there are more, further readers are forgotten.
const READINGS: usize = 1 << 21;
const NONE: u32 = u32::MAX;

/// Cells of a page that threads of a warp have read, or an engine. Reads of rows have one for each instruction.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    mark: Mark,
    /// Whether it is of one instruction and the same lanes.
    is_own: bool,
    /// Those that the lanes of the mark have read at its instruction.
    cells: [u64; CELLS / 64],
    /// Those that other lanes have read, or at other instructions, in their order.
    others: Vec<Other>,
    /// The reading of an older epoch.
    older: u32,
}

/// A cell, the instruction that has read it, and for which lanes.
#[derive(Clone, Copy, Debug)]
struct Other {
    cell: u32,
    site: u32,
    lanes: u32,
}

/// The bits of some cells, in one of the words.
fn bits(cells: &Range<usize>, word: usize) -> u64 {
    let [first, last] = [cells.start, cells.end].map(|at| at.saturating_sub(64 * word).min(64));
    if first >= last { 0 } else { u64::MAX >> (64 - (last - first)) << first }
}

impl Reading {
    fn new((mark, is_own): (Mark, bool), older: u32) -> Reading {
        Reading { mark, is_own, cells: [0; CELLS / 64], others: Vec::new(), older }
    }

    /// Whether another mark has its place here.
    fn is_of(&self, (mark, is_own): (Mark, bool)) -> bool {
        let epoch = self.mark.epoch;
        let (lanes, site) = if is_own { (mark.lanes, mark.site) } else { (self.mark.lanes, self.mark.site) };
        is_own == self.is_own && Mark { epoch, lanes, site, ..mark } == self.mark
    }

    fn is_empty(&self) -> bool {
        self.cells == [0; CELLS / 64] && self.others.is_empty()
    }

    /// The cells, and their marks.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, Mark)> {
        let own = (0..CELLS).filter(|cell| self.cells[cell / 64] >> (cell % 64) & 1 == 1);
        let others = self.others.iter().map(|other| {
            let Other { cell, site, lanes } = *other;
            (cell as usize, Mark { site, lanes, ..self.mark })
        });
        own.map(|cell| (cell, self.mark)).chain(others)
    }

    pub(crate) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// The cells that the lanes of the mark have read at its instruction.
    pub(crate) fn own_cells(&self) -> &[u64; CELLS / 64] {
        &self.cells
    }

    /// All that have read, of an engine the thread that began it.
    pub(crate) fn lanes(&self) -> u32 {
        self.others.iter().fold(self.mark.lanes, |lanes, other| lanes | other.lanes)
    }

    /// Those that other lanes have read, or at other instructions.
    pub(crate) fn other_cells(&self) -> impl Iterator<Item = usize> {
        self.others.iter().map(|other| other.cell as usize)
    }

    /// Whether it is of these cells alone.
    pub(crate) fn is_within(&self, cells: &[u64; CELLS / 64]) -> bool {
        self.cells.iter().zip(cells).all(|(own, all)| own & !all == 0)
            && self.others.iter().all(|other| cells[other.cell as usize / 64] >> (other.cell % 64) & 1 == 1)
    }

    /// Bytes that it has beside its own.
    pub(crate) fn size(&self) -> usize {
        self.others.capacity() * size_of::<Other>()
    }

    fn add(&mut self, mark: &Mark, cells: &Range<usize>) {
        if (mark.lanes, mark.site) == (self.mark.lanes, self.mark.site) {
            (0..CELLS / 64).for_each(|word| self.cells[word] |= bits(cells, word));
            return;
        }
        for cell in cells.clone() {
            let new = Other { cell: cell as u32, site: mark.site, lanes: mark.lanes };
            match self.others.binary_search_by_key(&(new.cell, new.site), |other| (other.cell, other.site)) {
                Ok(place) => self.others[place].lanes |= new.lanes,
                Err(place) => self.others.insert(place, new),
            }
        }
    }

    /// A newer read of the same threads stands for theirs.
    fn remove(&mut self, lanes: u32, cells: &Range<usize>) {
        if lanes == self.mark.lanes {
            (0..CELLS / 64).for_each(|word| self.cells[word] &= !bits(cells, word));
        }
        if !self.others.is_empty() {
            let is_read = |other: &&mut Other| cells.contains(&(other.cell as usize));
            self.others.iter_mut().filter(is_read).for_each(|other| other.lanes &= !lanes);
            self.others.retain(|other| other.lanes != 0);
        }
    }
}

/// The mark of cells in a page that begins there, and whether their reading is of one instruction and the same lanes.
fn in_page(mark: &Mark, begin: u64, cells: &Range<usize>) -> (Mark, bool) {
    if u64::from(mark.row.stride) < CELL * CELLS as u64 {
        return (*mark, mark.is_engine || mark.row != Row::default());
    }
    // A page has an element of one lane: what that reads beside it is in the same reading, and would be in another row.
    let lanes = mark.lanes_at(begin + cells.start as u64 * CELL);
    (Mark { lanes, row: Row::default(), ..*mark }, true)
}

/// Where the readings of all pages are, and how many there are.
#[derive(Default)]
pub(crate) struct Readers {
    places: QuickMap<u32>,
    count: usize,
    /// Whether further readers were forgotten.
    pub(crate) forgets: bool,
}

fn key(page: usize, (mark, is_own): (Mark, bool)) -> u64 {
    let which = if is_own { u64::from(mark.site) << 32 | u64::from(mark.row.stride ^ mark.lanes) } else { u64::MAX };
    place((page as u64, u64::from(mark.who) << 8 | u64::from(mark.bytes), which)) as u64
}

impl Readers {
    /// Cells of a page are read.
    pub(crate) fn read(
        &mut self,
        (page, begin): (usize, u64),
        readings: &mut Vec<Reading>,
        mark: &Mark,
        cells: Range<usize>,
    ) {
        let own = in_page(mark, begin, &cells);
        let mark = &own.0;
        let place = self.places.entry(key(page, own)).or_insert(NONE);
        let mut found = *place;
        if readings.get(found as usize).is_none_or(|reading| !reading.is_of(own)) {
            found = NONE;
        }
        let last = readings.get(found as usize).map(|last| (last.mark.epoch, last.older));
        if last.is_none_or(|(epoch, _)| epoch != mark.epoch) {
            // A reading whose bytes were all read anew since then is free again.
            let free = last.map(|(_, older)| older as usize);
            let free = free.filter(|free| readings.get(*free).is_some_and(Reading::is_empty));
            let number = free.unwrap_or(readings.len());
            if free.is_none() && self.count == READINGS {
                self.forgets = true;
                return;
            }
            if free.is_none() {
                self.count += 1;
                readings.push(Reading::new(own, found));
            }
            readings[number] = Reading::new(own, found);
            found = number as u32;
        }
        *place = found;
        let reading = &mut readings[found as usize];
        reading.add(mark, &cells);
        let older = reading.older;
        if let Some(older) = readings.get_mut(older as usize) {
            older.remove(mark.lanes, &cells);
        }
    }

    /// Readings of a page are not needed any more.
    pub(crate) fn forget(&mut self, page: usize, readings: &[Reading]) {
        self.count -= readings.len();
        for reading in readings {
            self.places.remove(&key(page, (reading.mark, reading.is_own)));
        }
    }

    /// Its bytes.
    pub(crate) fn size(&self) -> usize {
        self.places.capacity() * size_of::<(u64, u32)>()
    }
}
