//! Sets of readers. Neighbouring bytes mostly have the same readers, so each set is there once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use super::mark::{Mark, Quick};

/// Sets, at most: more than a quarter of a gigabyte. When there are more, further readers are forgotten.
const SETS: usize = 1 << 22;
/// Of so many newest readers it is looked whether one reads again.
const NEWEST: usize = 32;

/// A set: a reader, and the set without it.
type Set = (u32, Mark);

/// All sets of readers. The empty one is 0.
pub(crate) struct Crowd {
    sets: Vec<Set>,
    /// What a set and a reader make.
    made: HashMap<Set, u32, BuildHasherDefault<Quick>>,
    /// When there are so many sets, those that nobody has are forgotten; when that did not help, never again.
    full: usize,
}

impl Default for Crowd {
    fn default() -> Crowd {
        Crowd { sets: vec![(0, Mark::default())], made: HashMap::default(), full: SETS }
    }
}

impl Hash for Mark {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.who) << 32 | u64::from(self.lanes));
        state.write_u64(u64::from(self.epoch) << 32 | u64::from(self.site) << 4 | u64::from(self.bytes));
    }
}

impl Crowd {
    /// The set with one more reader, which is a weak one.
    pub(crate) fn with(&mut self, set: u32, mark: Mark) -> u32 {
        if let Some(made) = self.made.get(&(set, mark)) {
            return *made;
        }
        let is_in = self
            .readers(set)
            .take(NEWEST)
            .any(|old| old.lanes | mark.lanes == old.lanes && Mark { lanes: old.lanes, site: old.site, ..mark } == old);
        if is_in || self.sets.len() >= SETS {
            return set;
        }
        let (before, newest) = self.sets[set as usize];
        let new = match set != 0 && (Mark { lanes: newest.lanes, ..mark }) == newest {
            true => (before, Mark { lanes: newest.lanes | mark.lanes, ..mark }),
            false => (set, mark),
        };
        let made = self.sets.len() as u32;
        let made = *self.made.entry(new).or_insert(made);
        if made as usize == self.sets.len() {
            self.sets.push(new);
        }
        self.made.insert((set, mark), made);
        made
    }

    pub(crate) fn is_full(&self) -> bool {
        self.sets.len() >= self.full
    }

    /// Only sets that somebody has are left.
    pub(crate) fn is_swept(&mut self) {
        if self.sets.len() > SETS / 2 {
            self.full = usize::MAX;
        }
    }

    /// The set that has the same readers as another crowd's.
    pub(crate) fn with_all(&mut self, other: &Crowd, set: u32) -> u32 {
        let readers: Vec<Mark> = other.readers(set).collect();
        readers.into_iter().rev().fold(0, |set, mark| self.with(set, mark))
    }

    /// The readers of a set, the newest first.
    pub(crate) fn readers(&self, mut set: u32) -> impl Iterator<Item = Mark> {
        std::iter::from_fn(move || {
            let (before, mark) = *self.sets.get(set as usize).filter(|_| set != 0)?;
            set = before;
            Some(mark)
        })
    }
}
