//! What is remembered of every four bytes: who wrote them last, and who has read them since.

use super::actor::Actor;
use super::crowd::Crowd;
pub(crate) use super::mark::{Mark, QuickMap};

/// What is remembered of four bytes. Most have one weak write and one weak read at most; of the others all is elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) write: Mark,
    pub(crate) read: Mark,
    /// More weak reads.
    pub(crate) readers: u32,
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
pub(crate) struct Shadow {
    places: QuickMap<usize>,
    pages: Vec<Box<[Cell]>>,
    /// Pages that are free again.
    free: Vec<usize>,
    last: (u64, usize),
    crowd: Crowd,
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

    /// The cell of an address, if something was remembered there, and the sets of readers.
    #[inline]
    pub(crate) fn known_cell(&mut self, address: u64) -> Option<(&mut Cell, &mut Crowd)> {
        let (page, at) = (address / (CELL * CELLS), (address / CELL % CELLS) as usize);
        if self.last.0 != page {
            self.last = (page, *self.places.get(&page)?);
        }
        Some((&mut self.pages[self.last.1][at], &mut self.crowd))
    }

    /// Forgets the sets of readers that no cell has any longer, if there are very many.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        if self.crowd.is_full() {
            self.sweep();
        }
    }

    #[cold]
    fn sweep(&mut self) {
        let old = std::mem::take(&mut self.crowd);
        let mut moved = std::collections::HashMap::new();
        for cell in self.pages.iter_mut().flat_map(|page| page.iter_mut()).filter(|cell| cell.readers != 0) {
            let crowd = &mut self.crowd;
            cell.readers = *moved.entry(cell.readers).or_insert_with_key(|set| crowd.with_all(&old, *set));
        }
        self.crowd.is_swept();
    }

    /// All marks of a cell, as long as they are looked at.
    pub(crate) fn take(&mut self, cell: &mut Cell) -> Busy {
        if cell.more != 0 {
            self.free_more.push(cell.more);
            return std::mem::take(&mut self.more[std::mem::take(&mut cell.more) as usize]);
        }
        let marks = [std::mem::take(&mut cell.write), std::mem::take(&mut cell.read)];
        let readers: Vec<Mark> = self.crowd.readers(std::mem::take(&mut cell.readers)).collect();
        let marks = marks.into_iter().filter(|mark| mark.bytes != 0).chain(readers.into_iter().rev());
        let kept = marks.map(|mark| Kept { mark, ..Kept::default() });
        Busy { kept: kept.collect(), last: [0; 4] }
    }

    /// Puts them back.
    pub(crate) fn put(&mut self, cell: &mut Cell, busy: Busy) {
        let marks = |writes: bool| busy.kept.iter().map(|kept| kept.mark).filter(move |mark| mark.writes == writes);
        let is_weak = busy.kept.iter().all(|kept| kept.mark.scope == 0);
        let by_threads = marks(false).count() < 2 || marks(false).all(|mark| !mark.is_engine);
        if is_weak && by_threads && marks(true).count() < 2 {
            cell.write = marks(true).next().unwrap_or_default();
            let mut reads = marks(false);
            cell.read = reads.next().unwrap_or_default();
            reads.for_each(|mark| cell.readers = self.crowd.with(cell.readers, mark));
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
