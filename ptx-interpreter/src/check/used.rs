//! What a launch has used of the memory outside of it, for those who compare it with other launches.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::checks::Checks;
use super::dependents::knows;
use super::early::Early;
use super::mark::{CELL, CELLS, Mark, Row, WHOLE};
use super::readers::Reading;
use super::shadow::{Cell, PAGE, Page};
use super::uses::{Use, Used, UsedRange};
use crate::machine::lanes::lanes_of;
use crate::memory::spaces::{Owner, owner};

/// What the scope of the GPU is in a mark.
const OF_GPU: u8 = 3;

/// Which accesses count.
type Counts<'c> = &'c dyn Fn(&Mark, u64) -> bool;

/// Who knows of an access without waiting for the whole grid.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct KnownTo {
    /// The next grid.
    shown: bool,
    /// The host.
    told: bool,
}

impl KnownTo {
    const ALL: [KnownTo; 4] =
        [KnownTo::of(false, false), KnownTo::of(true, false), KnownTo::of(false, true), KnownTo::of(true, true)];

    const fn of(shown: bool, told: bool) -> KnownTo {
        KnownTo { shown, told }
    }

    fn index(self) -> usize {
        usize::from(self.shown) + 2 * usize::from(self.told)
    }
}

/// How the bytes of a cell are used, and who knows of it: which bytes, and an access of each. Mostly one or two.
type Uses = SmallVec<[((Use, KnownTo), u8, Mark); 2]>;

/// Ranges that have ended, and for each way the one that may go on.
#[derive(Default)]
struct Ranges {
    ended: Vec<UsedRange>,
    open: [[Option<UsedRange>; 4]; 4],
}

impl Checks {
    /// What was used of the memory outside.
    pub(crate) fn used(&mut self) -> Used {
        let mut ranges = Vec::new();
        match &self.peers {
            None => ranges = self.ranges(&|_, _| true),
            Some(_) => {
                let all = RefCell::<BTreeSet<(usize, u32)>>::default();
                self.ranges(&|mark, cell| {
                    all.borrow_mut().insert(self.grid_of(mark, cell));
                    false
                });
                for (grid, met) in all.take() {
                    let counts = |mark: &Mark, cell| self.grid_of(mark, cell) == (grid, met);
                    ranges.extend(self.ranges(&counts).into_iter().map(|range| UsedRange { grid, met, ..range }));
                }
            }
        }
        if self.has_early_grid() {
            ranges.sort_by_key(|range| !range.shown);
        }
        Used {
            ranges,
            releases: self.releases,
            acquires: self.acquires,
            launches_dependents: self.dependents.is_some(),
            follows: self.peers.as_ref().map(|peers| peers.follow()).unwrap_or_default(),
            early: self.early.as_mut().map(Early::ranges).unwrap_or_default(),
            undefined: self.undefined_outside(),
        }
    }

    fn ranges(&self, counts: Counts<'_>) -> Vec<UsedRange> {
        let mut ranges = Ranges::default();
        for (begin, page) in self.shadow.in_order() {
            if ranges.ended.len() < Used::RANGES && owner(begin, 1).0 == Owner::Outside {
                self.used_of_page(begin, page, counts, &mut ranges);
            }
        }
        ranges.ended.extend(ranges.open.into_iter().flatten().flatten());
        ranges.ended
    }

    fn used_of_page(&self, begin: u64, page: &Page, counts: Counts<'_>, ranges: &mut Ranges) {
        if page.cells.is_empty() {
            return self.read_of_page(begin, page, counts, ranges);
        }
        let mut first = 0;
        // Of neighbouring cells with one mark, some may be of threads that are known, and others not.
        let mut last = (Cell::default(), true);
        let mut is_known_alike = |cell: Cell| {
            if last.0 != cell {
                last = (cell, self.is_known_alike(cell));
            }
            last.1
        };
        let alike = |one: &Cell, other: &Cell| one == other && !one.has_more() && is_known_alike(*one);
        for part in page.cells.chunk_by(alike) {
            let uses = self.uses_of(part[0], begin + first as u64 * CELL, counts);
            self.add_cells(ranges, begin, first..first + part.len(), &uses);
            first += part.len();
        }
    }

    /// Whether a grid may begin before this one has ended.
    fn has_early_grid(&self) -> bool {
        self.dependents.is_some() || self.children.is_some()
    }

    /// Who knows of an access to a cell.
    fn who_knows(&self, mark: &Mark, cell: u64) -> KnownTo {
        let mark = &Mark { lanes: mark.lanes_at(cell), ..*mark };
        let first = || self.actor_of(mark, 0);
        KnownTo {
            shown: self.has_early_grid()
                && self.dependents.as_ref().is_none_or(|dependents| dependents.sees(mark, first()))
                && self.children.as_ref().is_none_or(|children| knows(children, mark, first())),
            told: self.host.as_ref().is_some_and(|host| knows(host, mark, first())),
        }
    }

    /// The same, if it is so in each cell of a mark.
    fn who_knows_all(&self, mark: &Mark) -> Option<KnownTo> {
        if self.peers.is_some() {
            return None;
        }
        if !self.has_early_grid() && self.host.is_none() {
            return Some(KnownTo::default());
        }
        if mark.is_engine {
            return Some(self.who_knows(mark, 0));
        }
        let of_lane = |lane: usize| self.who_knows(&Mark { lanes: 1 << lane, row: Row::default(), ..*mark }, 0);
        let mut lanes = lanes_of(mark.lanes).map(of_lane);
        let first = lanes.next()?;
        lanes.all(|known| known == first).then_some(first)
    }

    /// Whether it is so for each mark of a cell.
    fn is_known_alike(&self, cell: Cell) -> bool {
        let mut is_alike = true;
        self.shadow.each_mark(cell, |mark| is_alike &= self.who_knows_all(mark).is_some());
        is_alike
    }

    /// What was read of a page that nobody has written.
    fn read_of_page(&self, begin: u64, page: &Page, counts: Counts<'_>, ranges: &mut Ranges) {
        let who_knows = |reading: &Reading| self.who_knows_all(&Mark { lanes: reading.lanes(), ..*reading.mark() });
        let known: Vec<_> = page.readings().iter().map(who_knows).collect();
        if let [Some(all), rest @ ..] = &known[..]
            && rest.iter().all(|known| *known == Some(*all))
            && let Some(mark) = read_by_one(page)
        {
            return self.extend(ranges, (Use::Reads, *all), (begin, begin + PAGE), &mark);
        }
        for all in KnownTo::ALL {
            if known.iter().all(|known| known.is_some_and(|known| known != all)) {
                continue;
            }
            let is_kept = |reading: usize, mark: &Mark, cell: usize| {
                let at = begin + cell as u64 * CELL;
                known[reading].unwrap_or_else(|| self.who_knows(mark, at)) == all && counts(mark, at)
            };
            let read = read_only(page, &is_kept);
            let alike = |one: &(u8, Mark), other: &(u8, Mark)| one.0 == other.0 && one.1.site == other.1.site;
            let mut first = 0;
            for part in read.chunk_by(alike) {
                let (bytes, mark) = part[0];
                let uses = smallvec![((Use::Reads, all), bytes, mark)];
                self.add_cells(ranges, begin, first..first + part.len(), &uses);
                first += part.len();
            }
        }
    }

    /// How the cell at an address was used. What is written need not be told to be read.
    fn uses_of(&self, cell: Cell, at: u64, counts: Counts<'_>) -> Uses {
        let mut uses = Uses::new();
        self.shadow.each_mark(cell, |mark| {
            if !counts(mark, at) {
                return;
            }
            let how = (Use::of(mark.scope >= OF_GPU, mark.writes), self.who_knows(mark, at));
            match uses.iter_mut().find(|(other, ..)| *other == how) {
                Some((_, bytes, _)) => *bytes |= bytes_of(mark),
                None => uses.push((how, bytes_of(mark), *mark)),
            }
        });
        uses.sort_by_key(|((how, known), ..)| (known.index(), *how != Use::Writes));
        let mut written = 0;
        for ((how, _), bytes, _) in &mut uses {
            match how {
                Use::Writes => written |= *bytes,
                Use::Reads => *bytes &= !written,
                _ => {}
            }
        }
        uses
    }

    /// Cells of a page are used so.
    fn add_cells(&self, ranges: &mut Ranges, page: u64, cells: Range<usize>, uses: &Uses) {
        for (how, bytes, mark) in uses {
            let at = |cell: usize| page + cell as u64 * CELL;
            match *bytes {
                0 => {}
                WHOLE => self.extend(ranges, *how, (at(cells.start), at(cells.end)), mark),
                bytes => cells.clone().for_each(|cell| {
                    let is_used = |byte: &u64| bytes >> byte & 1 == 1;
                    for byte in (0..CELL).filter(is_used) {
                        self.extend(ranges, *how, (at(cell) + byte, at(cell) + byte + 1), mark);
                    }
                }),
            }
        }
    }

    fn extend(&self, ranges: &mut Ranges, (how, known): (Use, KnownTo), (begin, end): (u64, u64), mark: &Mark) {
        let open = &mut ranges.open[known.index()][how as usize];
        match open {
            Some(open) if open.end == begin && open.by.1 == mark.site => open.end = end,
            _ => {
                let lane = mark.lanes_at(begin / CELL * CELL).trailing_zeros() as usize;
                let by = (self.actor_of(mark, lane), mark.site);
                ranges.ended.extend(open.replace(UsedRange {
                    begin,
                    end,
                    how,
                    shown: known.shown,
                    told: known.told,
                    grid: 0,
                    met: 1,
                    by,
                    path: 0,
                }));
            }
        }
    }
}

/// Which bytes of a cell a mark is of. A row of small elements has all of them.
fn bytes_of(mark: &Mark) -> u8 {
    if mark.has_small_rows() { WHOLE } else { mark.bytes }
}

/// Who has read the first cell of a page that was only read, if one instruction has read all of it: most pages are so.
fn read_by_one(page: &Page) -> Option<Mark> {
    let first = page.readings().iter().find(|reading| reading.own_cells()[0] & 1 == 1)?.mark();
    let is_alike = |mark: &Mark| mark.site == first.site && bytes_of(mark) == WHOLE;
    let mut all = [0; CELLS / 64];
    for reading in page.readings().iter().filter(|reading| is_alike(reading.mark())) {
        all.iter_mut().zip(reading.own_cells()).for_each(|(all, own)| *all |= own);
    }
    (all == [u64::MAX; CELLS / 64]).then_some(*first)
}

/// Which bytes of a page were read that nobody has written, and by whom, as far as somebody `keeps` the reads: of a reading, for a
/// cell.
fn read_only(page: &Page, keeps: &dyn Fn(usize, &Mark, usize) -> bool) -> [(u8, Mark); CELLS] {
    let mut read = [(0, Mark::default()); CELLS];
    let mut whole = [0; CELLS / 64];
    for (number, reading) in page.readings().iter().enumerate() {
        let cells = (!reading.is_within(&whole)).then(|| reading.cells());
        for (cell, mark) in cells.into_iter().flatten().filter(|(cell, mark)| keeps(number, mark, *cell)) {
            let (bytes, first) = &mut read[cell];
            if *bytes == 0 {
                *first = mark;
            }
            *bytes |= bytes_of(&mark);
            whole[cell / 64] |= u64::from(*bytes == WHOLE) << (cell % 64);
        }
    }
    read
}

const _: () = assert!(PAGE == CELL * CELLS as u64);
