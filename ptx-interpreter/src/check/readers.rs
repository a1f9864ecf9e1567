//! Who has read the bytes of a page that nobody has written yet.
//!
//! Most memory that many threads read is never written. A page of it remembers of each reader the cells, and not of each cell
//! the readers. When somebody writes there, its cells get their marks.

use super::mark::{CELLS, Mark, place};

/// Readings that are found at once.
const RECENT: usize = 1 << 12;
/// How many of the newest readings of a page are looked at, where one is not found at once.
const NEWEST: usize = 16;
/// Readings, at most. When there are more, further readers are forgotten.
const READINGS: usize = 1 << 21;
const NONE: u32 = u32::MAX;

/// Cells of a page that have been read in one way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) mark: Mark,
    cells: [u64; CELLS / 64],
    /// The reading of an older epoch.
    older: u32,
}

/// The bits of some cells, in one of the words.
fn bits(cells: (usize, usize), word: usize) -> u64 {
    let (first, last) = (cells.0.saturating_sub(64 * word).min(64), cells.1.saturating_sub(64 * word).min(64));
    if first >= last { 0 } else { u64::MAX >> (64 - (last - first)) << first }
}

impl Reading {
    /// Whether another mark is of the same reader at the same instruction.
    fn is_of(&self, mark: &Mark) -> bool {
        Mark { epoch: self.mark.epoch, ..*mark } == self.mark
    }

    fn is_empty(&self) -> bool {
        self.cells == [0; CELLS / 64]
    }

    /// The cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = usize> {
        let cells = self.cells;
        (0..CELLS).filter(move |cell| cells[cell / 64] >> (cell % 64) & 1 == 1)
    }
}

/// Where the readings of all pages were found last.
pub(crate) struct Recent {
    places: Vec<u32>,
    /// Readings of all pages.
    count: usize,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent { places: vec![0; RECENT], count: 0 }
    }
}

impl Recent {
    /// Cells of a page are read.
    pub(crate) fn read(&mut self, page: usize, readings: &mut Vec<Reading>, mark: &Mark, cells: (usize, usize)) {
        let key = (page as u64, u64::from(mark.who) << 32 | u64::from(mark.lanes), u64::from(mark.site));
        let recent = &mut self.places[place(key) % RECENT];
        let mut found = *recent;
        if readings.get(found as usize).is_none_or(|reading| !reading.is_of(mark)) {
            let newest = readings.iter().enumerate().rev().take(NEWEST).find(|(_, reading)| reading.is_of(mark));
            found = newest.map_or(NONE, |(number, _)| number as u32);
        }
        let number = match readings.get(found as usize) {
            Some(reading) if reading.mark.epoch == mark.epoch => found,
            older => {
                // What an older epoch had read completely is free again.
                let free = older.map(|older| older.older);
                let free = free.filter(|free| readings.get(*free as usize).is_some_and(Reading::is_empty));
                let number = free.unwrap_or(readings.len() as u32);
                if free.is_none() {
                    if self.count == READINGS {
                        return;
                    }
                    self.count += 1;
                    readings.push(Reading { mark: *mark, cells: [0; CELLS / 64], older: NONE });
                }
                readings[number as usize] = Reading { mark: *mark, cells: [0; CELLS / 64], older: found };
                number
            }
        };
        *recent = number;
        let older = readings[number as usize].older;
        for word in cells.0 / 64..=(cells.1 - 1) / 64 {
            let bits = bits(cells, word);
            readings[number as usize].cells[word] |= bits;
            if let Some(older) = readings.get_mut(older as usize) {
                older.cells[word] &= !bits;
            }
        }
    }

    /// Readings are not needed any more.
    pub(crate) fn forget(&mut self, readings: Vec<Reading>) {
        self.count -= readings.len();
    }
}
