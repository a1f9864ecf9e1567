//! What is remembered of every four bytes: who wrote them last, and who has read them since.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
    /// One more than the scope of a strong access.
    pub(crate) scope: u8,
    pub(crate) writes: bool,
    pub(crate) is_engine: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) write: Mark,
    pub(crate) read: Mark,
    /// Where more marks are, if there are.
    pub(crate) more: u32,
    /// One more than the site of a read by `.nc`.
    pub(crate) constant: u32,
    /// Bytes that have a value.
    pub(crate) written: u8,
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
    pub(crate) more: Vec<Vec<Mark>>,
}

impl Shadow {
    pub(crate) fn new() -> Shadow {
        Shadow { last: (u64::MAX, 0), more: vec![Vec::new()], ..Shadow::default() }
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

    /// Forgets a range of whole pages.
    pub(crate) fn forget(&mut self, begin: u64, bytes: u64) {
        let size = CELL * CELLS;
        for page in begin / size..(begin + bytes).div_ceil(size) {
            if let Some(place) = self.places.remove(&page) {
                for cell in &self.pages[place] {
                    self.more[cell.more as usize].clear();
                }
                self.free.push(place);
            }
        }
        self.last = (u64::MAX, 0);
    }
}
