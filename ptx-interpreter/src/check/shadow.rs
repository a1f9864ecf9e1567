//! What is remembered of every four bytes: who wrote them last, and who has read them since.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::actor::Actor;

/// An access that was made, of threads of one warp at the same place and epoch, or of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The warp in the grid, or the engine.
    pub(crate) who: u32,
    /// Its threads; of an engine, the thread that began it.
    pub(crate) lanes: u32,
    pub(crate) epoch: u32,
    pub(crate) site: u32,
    /// Which of the four bytes; none if there is no access.
    pub(crate) bytes: u8,
    /// Bytes of the whole access, of a strong one.
    pub(crate) size: u8,
    /// One more than the scope of a strong access.
    pub(crate) scope: u8,
    pub(crate) writes: bool,
    pub(crate) is_engine: bool,
}

/// What is remembered of four bytes. Most have one weak write and one weak read at most; of the others all is elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) write: Mark,
    pub(crate) read: Mark,
    /// Where all marks are, if not here.
    pub(crate) more: u32,
    /// One more than the site of a read by `.nc`.
    pub(crate) constant: u32,
    /// Bytes that have a value.
    pub(crate) written: u8,
}

/// All marks of four bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy {
    pub(crate) kept: Vec<Kept>,
    /// Of each byte the number of its last write, if that was a strong one.
    pub(crate) last: [u32; 4],
}

/// A mark among others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) mark: Mark,
    /// The number of a strong write.
    pub(crate) number: u32,
    /// Of a strong write: threads that have observed it, and in which epochs.
    pub(crate) observers: Vec<(Actor, u32)>,
}

/// Bytes of a cell, and cells of a page.
pub(crate) const CELL: u64 = 4;
const CELLS: u64 = 256;

#[derive(Default)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

pub(crate) type QuickMap<V> = HashMap<u64, V, BuildHasherDefault<Quick>>;

#[derive(Default)]
pub(crate) struct Shadow {
    places: QuickMap<usize>,
    pages: Vec<Box<[Cell]>>,
    /// Pages that are free again.
    free: Vec<usize>,
    last: (u64, usize),
    more: Vec<Busy>,
    free_more: Vec<u32>,
}

impl Shadow {
    pub(crate) fn new() -> Shadow {
        Shadow { last: (u64::MAX, 0), more: vec![Busy::default()], ..Shadow::default() }
    }

    /// The cell of an address. Where nothing was remembered, `written` says which bytes have a value from the beginning.
    #[inline]
    pub(crate) fn cell(&mut self, address: u64, written: impl FnOnce(u64) -> bool) -> &mut Cell {
        let (page, at) = (address / (CELL * CELLS), (address / CELL % CELLS) as usize);
        if self.last.0 != page {
            self.last = (page, self.page(page, written));
        }
        &mut self.pages[self.last.1][at]
    }

    fn page(&mut self, page: u64, written: impl FnOnce(u64) -> bool) -> usize {
        if let Some(place) = self.places.get(&page) {
            return *place;
        }
        let bytes = if written(page * CELL * CELLS) { 0xf } else { 0 };
        let place = self.free.pop().unwrap_or(self.pages.len());
        let cells = vec![Cell { written: bytes, ..Cell::default() }; CELLS as usize].into_boxed_slice();
        if place == self.pages.len() {
            self.pages.push(cells)
        } else {
            self.pages[place] = cells
        }
        self.places.insert(page, place);
        place
    }

    /// All marks of a cell, as long as they are looked at.
    pub(crate) fn take(&mut self, cell: &mut Cell) -> Busy {
        if cell.more != 0 {
            self.free_more.push(cell.more);
            return std::mem::take(&mut self.more[std::mem::take(&mut cell.more) as usize]);
        }
        let marks = [std::mem::take(&mut cell.write), std::mem::take(&mut cell.read)];
        let kept = marks.into_iter().filter(|mark| mark.bytes != 0).map(|mark| Kept { mark, ..Kept::default() });
        Busy { kept: kept.collect(), last: [0; 4] }
    }

    /// Puts them back.
    pub(crate) fn put(&mut self, cell: &mut Cell, busy: Busy) {
        let weak = |writes: bool| {
            let mut marks = busy.kept.iter().map(|kept| kept.mark).filter(move |mark| mark.writes == writes);
            (marks.next(), marks.next().is_none())
        };
        let ((write, one_write), (read, one_read)) = (weak(true), weak(false));
        if one_write && one_read && busy.kept.iter().all(|kept| kept.mark.scope == 0) {
            (cell.write, cell.read) = (write.unwrap_or_default(), read.unwrap_or_default());
            return;
        }
        cell.more = self.free_more.pop().unwrap_or_else(|| {
            self.more.push(Busy::default());
            self.more.len() as u32 - 1
        });
        self.more[cell.more as usize] = busy;
    }

    /// A write of a cell.
    pub(crate) fn write_of(&self, cell: &Cell) -> Option<Mark> {
        let more = &self.more[cell.more as usize].kept;
        let mut marks = more.iter().map(|kept| kept.mark).chain([cell.write]);
        marks.find(|mark| mark.writes && mark.bytes != 0)
    }

    /// The numbers of the last writes of a cell's bytes, where they were strong.
    pub(crate) fn last(&mut self, address: u64) -> [u32; 4] {
        let more = self.cell(address, |_| true).more;
        self.more[more as usize].last
    }

    /// Forgets a range of whole pages.
    pub(crate) fn forget(&mut self, begin: u64, bytes: u64) {
        let size = CELL * CELLS;
        for page in begin / size..(begin + bytes).div_ceil(size) {
            if let Some(place) = self.places.remove(&page) {
                for cell in self.pages[place].iter().filter(|cell| cell.more != 0) {
                    self.more[cell.more as usize] = Busy::default();
                    self.free_more.push(cell.more);
                }
                self.free.push(place);
            }
        }
        self.last = (u64::MAX, 0);
    }
}
