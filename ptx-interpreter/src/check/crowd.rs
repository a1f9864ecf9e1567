//! Marks, and sets of them. Neighbouring bytes mostly have the same marks, so each set is there once, and has a number.
//!
//! Lanes of a warp that access cells in no order have one mark, [apart](Row::APART). What a cell has is the number of its set and
//! the lane.

use std::hash::{Hash, Hasher};

use super::mark::{Mark, QuickMap, Row, place};

/// Sets, at most: a quarter of a gigabyte. When there are more, further readers are forgotten.
const SETS: usize = 1 << 22;
/// Above the number of a set of one mark that is apart is the lane.
const LANE: u32 = 26;
/// How many sets there are when unused ones are removed for the first time.
const FEW: usize = 1 << 17;
/// Of how many cells that are looked at a sweep has to find one set, if it is not to take long.
const CELLS_OF_A_SET: usize = 16;
/// How many of the newest marks are compared with a new one.
const NEWEST: usize = 32;
/// Sets that were made last, and are not made again: at first, and at most.
const LAST: usize = 1 << 12;
const MOST: usize = 1 << 16;

/// All sets. The empty one is 0.
pub(crate) struct Crowd {
    sets: Vec<Set>,
    /// Sets by the sums of their marks: the same marks in another order are the same set.
    known: QuickMap<u32>,
    /// Sets of one mark.
    alone: Vec<(Mark, u32)>,
    /// What a set and a set of one mark make.
    made: Vec<((u32, u32), u32)>,
    /// How many sets there may be before unused ones are removed.
    full: usize,
    /// Whether further marks were forgotten.
    pub(crate) forgets: bool,
}

/// A set: the newest mark, and the set without it.
#[derive(Clone, Copy, Default)]
struct Set {
    before: u32,
    mark: Mark,
    /// Of the hashes of all marks, if there are several.
    sum: u64,
}

impl Default for Crowd {
    fn default() -> Crowd {
        Crowd {
            sets: vec![Set::default()],
            known: QuickMap::default(),
            alone: vec![(Mark::default(), 0); LAST],
            made: vec![((0, 0), 0); LAST],
            full: FEW,
            forgets: false,
        }
    }
}

/// Sums of it tell sets apart.
fn hash(mark: Mark) -> u64 {
    let mut hasher = Mixed::default();
    let kind = u64::from(mark.alias) << 2 | u64::from(mark.writes) << 1 | u64::from(mark.is_engine);
    (mark, kind).hash(&mut hasher);
    hasher.finish()
}

/// Each bit of a word changes about half of all bits. No word is of somebody who looks for equal sums.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, word: u64) {
        let mut mixed = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = mixed ^ mixed >> 31;
    }
}

impl Crowd {
    /// The set of one mark.
    #[inline]
    pub(crate) fn alone(&mut self, mark: Mark) -> u32 {
        let last = &mut self.alone[place(mark) % LAST];
        if last.0 != mark || last.1 == 0 {
            if self.sets.len() == 1 << LANE {
                self.forgets = true;
                return 0;
            }
            *last = (mark, self.sets.len() as u32);
            self.sets.push(Set { before: 0, mark, sum: 0 });
        }
        last.1
    }

    /// The newest mark of a set.
    #[inline]
    pub(crate) fn newest(&self, set: u32) -> Mark {
        of_lane(self.sets[number(set) as usize].mark, set)
    }

    /// The one mark of all cells that have a set for one of their lanes.
    #[inline]
    pub(crate) fn apart(&self, set: u32) -> Option<&Mark> {
        Some(&self.sets[number(set) as usize].mark).filter(|mark| mark.row == Row::APART)
    }

    /// A set whose mark is not apart.
    fn whole(&mut self, set: u32) -> u32 {
        if self.apart(set).is_some() { self.alone(self.newest(set)) } else { set }
    }

    /// The set with one more mark, which is a weak one of a thread: that of another set, which has no more.
    pub(crate) fn with(&mut self, set: u32, other: u32) -> u32 {
        if set == 0 || set == other {
            return other;
        }
        let key = (set, other);
        let last = self.made[self.place_of(key)];
        if last.0 == key {
            return last.1;
        }
        if self.sets.len() > self.made.len() && self.made.len() < MOST {
            self.made = vec![((0, 0), 0); 4 * self.made.len()];
        }
        let (set, other) = (self.whole(set), self.whole(other));
        let mark = self.sets[other as usize].mark;
        let has = |old: &Mark| {
            // Marks of a set mostly have other rows.
            old.row == mark.row
                && old.lanes | mark.lanes == old.lanes
                && Mark { lanes: old.lanes, site: old.site, ..mark } == *old
        };
        let is_full = self.sets.len() >= SETS;
        if is_full || self.chain(set).take(NEWEST).any(has) {
            self.forgets |= is_full;
            return set;
        }
        let Set { before, mark: newest, .. } = self.sets[set as usize];
        let made = match (Mark { lanes: newest.lanes, ..mark }) == newest {
            true => {
                let both = self.alone(Mark { lanes: newest.lanes | mark.lanes, ..mark });
                self.with(before, both)
            }
            false => {
                let (next, sum) = (self.sets.len() as u32, self.sum(set).wrapping_add(hash(mark)));
                let known = *self.known.entry(sum).or_insert(next);
                if known == next {
                    self.sets.push(Set { before: set, mark, sum });
                }
                known
            }
        };
        let last = self.place_of(key);
        self.made[last] = (key, made);
        made
    }

    /// Where what two sets make is, if they were put together lately.
    #[inline]
    fn place_of(&self, key: (u32, u32)) -> usize {
        place(key) & (self.made.len() - 1)
    }

    /// Of the hashes of a set's marks. Most sets have one, and nobody asks for it.
    fn sum(&self, set: u32) -> u64 {
        let Set { before, mark, sum } = self.sets[set as usize];
        if before == 0 { hash(mark) } else { sum }
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.sets.len() >= self.full
    }

    /// Its bytes.
    pub(crate) fn size(&self) -> usize {
        self.sets.capacity() * size_of::<Set>() + self.known.capacity() * size_of::<(u64, u32)>()
    }

    /// Only sets that somebody has are left. So many cells were looked at: a sweep is worth that for as many sets alone.
    pub(crate) fn is_swept(&mut self, cells: usize) {
        self.full = FEW.max(3 * self.sets.len()).max((cells / CELLS_OF_A_SET).min(SETS / 4));
    }

    /// The number of the set that has the same marks as another crowd's.
    pub(crate) fn with_all(&mut self, other: &Crowd, set: u32) -> u32 {
        if let Some(mark) = other.apart(set) {
            return self.alone(*mark);
        }
        let marks: Vec<Mark> = other.marks(set).collect();
        marks.into_iter().rev().fold(0, |set, mark| {
            let alone = self.alone(mark);
            self.with(set, alone)
        })
    }

    /// Whether something holds for all marks of a set.
    #[inline]
    pub(crate) fn all(&self, set: u32, holds: impl Fn(&Mark) -> bool) -> bool {
        match set {
            0 => true,
            _ if self.apart(set).is_some() => holds(&self.newest(set)),
            _ => self.chain(set).all(holds),
        }
    }

    /// The marks of a set that is not apart, the newest first. One of several never is.
    #[inline]
    fn chain(&self, mut set: u32) -> impl Iterator<Item = &Mark> {
        std::iter::from_fn(move || {
            let Set { before, mark, .. } = self.sets.get(set as usize).filter(|_| set != 0)?;
            set = *before;
            Some(mark)
        })
    }

    /// The marks of a set, the newest first.
    pub(crate) fn marks(&self, mut set: u32) -> impl Iterator<Item = Mark> {
        std::iter::from_fn(move || {
            let Set { before, mark, .. } = *self.sets.get(number(set) as usize).filter(|_| set != 0)?;
            let mark = of_lane(mark, set);
            set = before;
            Some(mark)
        })
    }
}

/// A set of one mark that is apart, in a cell of one of its lanes.
#[inline]
pub(crate) fn in_lane(set: u32, lane: usize) -> u32 {
    set | (lane as u32) << LANE
}

/// The number of a set, without a lane.
#[inline]
pub(crate) fn number(set: u32) -> u32 {
    set & ((1 << LANE) - 1)
}

#[inline]
pub(crate) fn lane(set: u32) -> usize {
    (set >> LANE) as usize
}

/// What a mark means in a cell.
#[inline]
fn of_lane(mark: Mark, set: u32) -> Mark {
    if mark.row == Row::APART { Mark { lanes: 1 << lane(set), row: Row::default(), ..mark } } else { mark }
}
