//! What is remembered of every four bytes: who wrote them last, and who has read them since.

use std::ops::Range;
use std::rc::Rc;

use smallvec::SmallVec;

use super::actor::Actor;
use super::clock::Known;
use super::crowd::{Crowd, in_lane, lane, number};
pub(crate) use super::mark::{CELL, CELLS, Mark, QuickMap, QuickTable};
use super::mark::{WHOLE, place};
use super::readers::{Readers, Reading};
use super::record::{Record, Records};
use super::spare::Spare;

/// What is remembered of four bytes: the sets of writes and of reads, if all are weak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Or [`MORE`] and the place of all marks, if not.
    pub(crate) writes: u32,
    pub(crate) reads: u32,
}

/// All marks of a cell are elsewhere.
const MORE: u32 = 1 << 31;

impl Cell {
    #[inline]
    pub(crate) fn has_more(self) -> bool {
        self.writes & MORE != 0
    }

    /// Where they are.
    fn elsewhere(self) -> usize {
        (self.writes & !MORE) as usize
    }
}

/// All marks of four bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy {
    pub(crate) kept: Vec<Kept>,
    /// Of each byte the number of its last write, if that was a strong one.
    pub(crate) last: [u32; 4],
    /// What the last strong writes that begin here hand over.
    pub(super) records: Records,
}

/// A mark among others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) mark: Mark,
    /// The number of a strong write.
    pub(crate) number: u32,
    /// Of a strong write: threads that have observed it, and in which epochs. Most marks have none, and a cell may have many marks.
    pub(super) observers: Option<Box<Observers>>,
    /// What the fences knew before those that an atomic stands for.
    pub(super) before: Option<Box<Known>>,
}

pub(super) type Observers = SmallVec<[(Actor, u32); 4]>;

/// The bytes of a page.
pub(crate) const PAGE: u64 = CELL * CELLS as u64;
/// Pages that are found at once.
const RECENT: usize = 256;

/// What is remembered of neighbouring bytes.
pub(crate) struct Page {
    /// None, as long as it was only read.
    pub(crate) cells: Vec<Cell>,
    readings: Vec<Reading>,
    /// Of each byte whether it has a value; four bits a cell.
    pub(crate) written: Values,
    /// Of each cell one more than the site of a read by `.nc`, if there was one.
    pub(crate) constant: Option<Box<[u32; CELLS]>>,
}

/// For each byte of a page a bit.
pub(crate) type Values = [u8; CELLS / 2];

impl Page {
    /// Who has read it, as long as it was only read.
    pub(crate) fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// Which of a cell's bytes have values.
    #[inline]
    pub(crate) fn values(&self, cell: usize) -> u8 {
        self.written[cell / 2] >> (cell % 2 * 4) & 0xf
    }

    pub(crate) fn set_values(&mut self, cell: usize, bytes: u8) {
        let shift = cell % 2 * 4;
        let pair = &mut self.written[cell / 2];
        *pair = *pair & !(0xf << shift) | bytes << shift;
    }
}

/// Where a page is among those that are found at once. Blocks have their shared memory at equal distances.
#[inline]
fn slot(page: u64) -> usize {
    place(page) % RECENT
}

fn capacity<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

#[derive(Default)]
pub(crate) struct Shadow {
    places: QuickMap<usize>,
    #[expect(clippy::vec_box, reason = "a page is large: a longer list does not move it")]
    pub(crate) pages: Vec<Box<Page>>,
    /// Pages that are free again.
    free: Vec<usize>,
    recent: Vec<(u64, usize)>,
    pub(crate) crowd: Crowd,
    readers: Readers,
    more: Vec<Busy>,
    free_more: Vec<u32>,
    pub(super) spare: Spare<Kept>,
}

impl Shadow {
    pub(crate) fn new() -> Shadow {
        Shadow { recent: vec![(u64::MAX, 0); RECENT], ..Shadow::default() }
    }

    /// The number of an address's page. Where nothing was remembered, `values` says which bytes have a value from the beginning.
    #[inline]
    pub(crate) fn open(&mut self, address: u64, values: impl FnOnce(u64) -> Values) -> usize {
        let page = address / PAGE;
        let recent = self.recent[slot(page)];
        if recent.0 == page {
            return recent.1;
        }
        let place = self.page(page, values);
        self.recent[slot(page)] = (page, place);
        place
    }

    /// The number of a page of which something is remembered.
    #[inline]
    fn find(&self, page: u64) -> Option<usize> {
        let recent = self.recent[slot(page)];
        if recent.0 == page { Some(recent.1) } else { self.places.get(&page).copied() }
    }

    fn page(&mut self, page: u64, values: impl FnOnce(u64) -> Values) -> usize {
        if let Some(place) = self.places.get(&page) {
            return *place;
        }
        let written = values(page * PAGE);
        let content = Page { cells: Vec::new(), readings: Vec::new(), written, constant: None };
        let place = match self.free.pop() {
            Some(place) => {
                *self.pages[place] = content;
                place
            }
            None => {
                self.pages.push(Box::new(content));
                self.pages.len() - 1
            }
        };
        self.places.insert(page, place);
        place
    }

    /// Cells of a page are read, if nobody has written there.
    #[inline]
    pub(crate) fn read(&mut self, (page, begin): (usize, u64), mark: &Mark, cells: Range<usize>) -> bool {
        let Page { cells: all, readings, .. } = &mut *self.pages[page];
        let is_only_read = all.is_empty();
        if is_only_read {
            self.readers.read((page, begin), readings, mark, cells);
        }
        is_only_read
    }

    /// Each cell of a page has marks of its own from now on.
    #[inline]
    pub(crate) fn spread(&mut self, page: usize, begin: u64) {
        if self.pages[page].cells.is_empty() {
            self.pages[page].cells = vec![Cell::default(); CELLS];
            let readings = std::mem::take(&mut self.pages[page].readings);
            readings.iter().for_each(|reading| self.spread_one(page, begin, reading));
            self.readers.forget(page, &readings);
        }
    }

    fn spread_one(&mut self, page: usize, begin: u64, reading: &Reading) {
        for (cell, mark) in reading.cells() {
            let alone = self.crowd.alone(mark);
            let own = self.pages[page].cells[cell];
            // Reads by engines are not put together.
            let by_engine = own.reads != 0 && (mark.is_engine || self.crowd.newest(own.reads).is_engine);
            if own.has_more() || by_engine {
                let address = begin + cell as u64 * CELL;
                let mut busy = self.take((page, cell), address);
                busy.kept.extend(mark.at(address).map(|mark| Kept { mark, ..Kept::default() }));
                self.put((page, cell), busy);
            } else {
                self.pages[page].cells[cell].reads = self.crowd.with(own.reads, alone);
            }
        }
    }

    /// Whether there were too many marks to keep them all.
    pub(crate) fn forgets(&self) -> bool {
        self.crowd.forgets || self.readers.forgets
    }

    /// Forgets the sets that no cell has any longer, if there are very many.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        if self.crowd.is_full() {
            self.sweep();
        }
    }

    #[cold]
    fn sweep(&mut self) {
        let old = std::mem::take(&mut self.crowd);
        self.crowd.forgets = old.forgets;
        let mut moved: QuickMap<u32> = QuickMap::default();
        let crowd = &mut self.crowd;
        let mut place = |set: u32| {
            let moved = moved.entry(number(set).into()).or_insert_with(|| crowd.with_all(&old, number(set)));
            in_lane(*moved, lane(set))
        };
        let mut all = 0;
        for page in self.places.values() {
            let cells = &mut self.pages[*page].cells;
            all += cells.len();
            let cells = cells.iter_mut().filter(|cell| !cell.has_more());
            // Neighbours mostly have the same sets.
            let mut last = (Cell::default(), Cell::default());
            for cell in cells {
                if *cell != last.0 {
                    last = (*cell, Cell { writes: place(cell.writes), reads: place(cell.reads) });
                }
                *cell = last.1;
            }
        }
        self.crowd.is_swept(all);
    }

    /// All marks of a cell, as long as they are looked at.
    pub(crate) fn take(&mut self, (page, cell): (usize, usize), address: u64) -> Busy {
        let old = std::mem::take(&mut self.pages[page].cells[cell]);
        if old.has_more() {
            return self.take_more(old);
        }
        let Cell { writes, reads } = old;
        let mut kept = self.spare.list();
        for set in [writes, reads] {
            let marks: SmallVec<[Mark; 4]> = self.crowd.marks(set).collect();
            let oldest_first = marks.into_iter().rev().flat_map(|mark| mark.at(address));
            kept.extend(oldest_first.map(|mark| Kept { mark, ..Kept::default() }));
        }
        Busy { kept, ..Busy::default() }
    }

    /// Puts them back.
    pub(crate) fn put(&mut self, (page, cell): (usize, usize), busy: Busy) {
        let is_weak = busy.kept.iter().all(|kept| kept.mark.scope == 0);
        let by_engines = busy.kept.iter().any(|kept| kept.mark.is_engine);
        let count = |writes: bool| busy.kept.iter().filter(|kept| kept.mark.writes == writes).count();
        let own = if is_weak && (!by_engines || count(true) < 2 && count(false) < 2) {
            let mut own = Cell::default();
            for kept in &busy.kept {
                let set = if kept.mark.writes { &mut own.writes } else { &mut own.reads };
                let alone = self.crowd.alone(kept.mark);
                *set = self.crowd.with(*set, alone);
            }
            self.spare.add(busy.kept);
            own
        } else {
            let place = self.free_more.pop().unwrap_or_else(|| {
                self.more.push(Busy::default());
                self.more.len() as u32 - 1
            });
            self.more[place as usize] = busy;
            Cell { writes: MORE | place, reads: 0 }
        };
        self.pages[page].cells[cell] = own;
    }

    /// A write of some bytes of a cell.
    pub(crate) fn write_of(&self, (page, cell): (usize, usize), address: u64, bytes: u8) -> Option<Mark> {
        let cell = *self.pages[page].cells.get(cell)?;
        if !cell.has_more() {
            return self
                .crowd
                .marks(cell.writes)
                .flat_map(|mark| mark.at(address))
                .find(|mark| mark.bytes & bytes != 0);
        }
        let mut marks = self.more(cell).map(|kept| kept.mark);
        marks.find(|mark| mark.writes && mark.bytes & bytes != 0)
    }

    /// A read of a cell by an instruction.
    pub(crate) fn read_by(&self, (page, cell): (usize, usize), address: u64, site: u32) -> Option<Mark> {
        let cell = *self.pages[page].cells.get(cell)?;
        let is_it = |mark: &Mark| !mark.writes && mark.site == site;
        if !cell.has_more() {
            return self.crowd.marks(cell.reads).flat_map(|mark| mark.at(address)).find(is_it);
        }
        self.more(cell).map(|kept| kept.mark).find(is_it)
    }

    /// The same, of an address that may be on no page.
    pub(crate) fn last_write(&self, address: u64) -> Option<Mark> {
        let page = *self.places.get(&(address / PAGE))?;
        self.write_of((page, (address % PAGE / CELL) as usize), address, WHOLE)
    }

    /// The numbers of the last writes of a cell's bytes, where they were strong.
    pub(crate) fn last(&self, address: u64) -> [u32; 4] {
        self.place_of_more(address).map_or([0; 4], |place| self.more[place].last)
    }

    /// All marks of a cell, if they are elsewhere.
    pub(super) fn busy(&mut self, (page, cell): (usize, usize)) -> Option<&mut Busy> {
        let cell = self.pages[page].cells[cell];
        cell.has_more().then(|| self.more_of(cell))
    }

    /// The same, to look at.
    pub(super) fn more(&self, cell: Cell) -> impl Iterator<Item = &Kept> {
        self.more[cell.elsewhere()].kept.iter()
    }

    /// The same, to change.
    pub(super) fn more_of(&mut self, cell: Cell) -> &mut Busy {
        &mut self.more[cell.elsewhere()]
    }

    /// Takes them away from there.
    fn take_more(&mut self, cell: Cell) -> Busy {
        self.free_more.push(cell.writes & !MORE);
        std::mem::take(&mut self.more[cell.elsewhere()])
    }

    /// Nobody needs them any longer.
    pub(super) fn forget_more(&mut self, cell: Cell) {
        let Busy { kept, records, .. } = self.take_more(cell);
        self.spare.add(kept);
        self.spare.add_records(records);
    }

    /// All marks of a cell, if they are not.
    pub(super) fn marks(&self, (page, cell): (usize, usize), address: u64) -> impl Iterator<Item = Mark> {
        let Cell { writes, reads } = self.pages[page].cells[cell];
        [writes, reads].into_iter().flat_map(|set| self.crowd.marks(set)).flat_map(move |mark| mark.at(address))
    }

    /// What the last strong write of an address left there.
    pub(super) fn record(&self, address: u64) -> Option<&Rc<Record>> {
        let place = self.place_of_more(address)?;
        self.more[place].records.iter().find(|record| record.address == address)
    }

    /// Takes it away.
    pub(super) fn take_record(&mut self, address: u64) -> Option<Rc<Record>> {
        let place = self.place_of_more(address)?;
        let records = &mut self.more[place].records;
        let own = records.iter().position(|record| record.address == address)?;
        Some(records.swap_remove(own))
    }

    /// Keeps it, in a cell that has the mark of its write.
    pub(super) fn put_record(&mut self, record: Rc<Record>) {
        if let Some(place) = self.place_of_more(record.address) {
            self.more[place].records.push(record);
        }
    }

    /// Where all marks of a cell are, if they are elsewhere.
    fn place_of_more(&self, address: u64) -> Option<usize> {
        let cell = self.pages[self.find(address / PAGE)?].cells.get((address % PAGE / CELL) as usize)?;
        cell.has_more().then_some(cell.elsewhere())
    }

    /// A thread observes strong writes.
    pub(crate) fn observe(&mut self, (address, bytes): (u64, usize), numbers: &[u32], observer: (Actor, u32)) {
        for cell in (address / CELL..(address + bytes as u64).div_ceil(CELL)).map(|cell| cell * CELL) {
            let busy = self.place_of_more(cell).map(|place| &mut self.more[place]);
            for kept in busy.into_iter().flat_map(|busy| &mut busy.kept).filter(|kept| numbers.contains(&kept.number)) {
                kept.observers.get_or_insert_default().push(observer);
            }
        }
    }

    /// Whether some cells have the mark of the strong write of a number.
    pub(crate) fn keeps(&self, address: u64, bytes: usize, number: u32) -> bool {
        (address / CELL..(address + bytes as u64).div_ceil(CELL)).map(|cell| cell * CELL).any(|cell| {
            let place = self.place_of_more(cell);
            place.is_some_and(|place| self.more[place].kept.iter().any(|kept| kept.number == number))
        })
    }

    /// The first address of each page, and what is remembered of it, in the order of the addresses.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (u64, &Page)> {
        let mut places: Vec<(u64, usize)> = self.places.iter().map(|(page, place)| (*page, *place)).collect();
        places.sort_unstable();
        places.into_iter().map(|(page, place)| (page * PAGE, &*self.pages[place]))
    }

    /// All marks of a cell.
    pub(crate) fn each_mark(&self, cell: Cell, mut then: impl FnMut(&Mark)) {
        if cell.has_more() {
            self.more(cell).for_each(|kept| then(&kept.mark));
        } else {
            self.crowd.marks(cell.writes).chain(self.crowd.marks(cell.reads)).for_each(|mark| then(&mark));
        }
    }

    /// Bytes that were accessed, in whole pages, and bytes that are remembered of them.
    pub(crate) fn size(&self) -> (u64, u64) {
        let of_page = |page: &Page| {
            let constant = page.constant.as_ref().map_or(0, |constant| size_of_val(&**constant));
            size_of::<Page>()
                + capacity(&page.cells)
                + capacity(&page.readings)
                + constant
                + page.readings.iter().map(Reading::size).sum::<usize>()
        };
        let observers =
            |kept: &Kept| kept.observers.as_ref().map_or(0, |all| size_of::<Observers>() + size_of_val(&all[..]));
        let of_busy = |busy: &Busy| {
            capacity(&busy.kept)
                + busy.kept.iter().map(observers).sum::<usize>()
                + busy.records.len() * size_of::<Record>()
        };
        let pages: usize = self.pages.iter().map(|page| of_page(page)).sum();
        let more: usize = capacity(&self.more) + self.more.iter().map(of_busy).sum::<usize>();
        let tables = self.places.capacity() * size_of::<(u64, usize)>() + self.crowd.size() + self.readers.size();
        (self.pages.len() as u64 * PAGE, (pages + more + tables) as u64)
    }

    /// Cells have neither marks nor values any longer.
    pub(crate) fn clear(&mut self, begin: u64, bytes: u64) {
        for at in (begin..begin + bytes).step_by(CELL as usize) {
            let Some(page) = self.places.get(&(at / PAGE)).copied() else { continue };
            let cell = (at % PAGE / CELL) as usize;
            if !self.pages[page].cells.is_empty() {
                self.take((page, cell), at);
            }
            self.pages[page].set_values(cell, 0);
        }
    }

    /// Forgets a range of whole pages.
    pub(crate) fn forget(&mut self, begin: u64, bytes: u64) {
        for page in begin / PAGE..(begin + bytes).div_ceil(PAGE) {
            if let Some(place) = self.places.remove(&page) {
                let cells = std::mem::take(&mut self.pages[place].cells);
                cells.iter().filter(|cell| cell.has_more()).for_each(|cell| self.forget_more(*cell));
                self.readers.forget(place, &std::mem::take(&mut self.pages[place].readings));
                self.free.push(place);
            }
            self.recent[slot(page)] = (u64::MAX, 0);
        }
    }
}
