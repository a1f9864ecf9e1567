//! The tensor memory of a block: 128 lanes of 512 columns, each of four bytes.

use std::collections::BTreeMap;

use crate::check::Actor;

pub(crate) const LANES: usize = 128;
pub(crate) const COLUMNS: usize = 512;
/// Bytes of a column in a lane.
pub(crate) const WORD: usize = 4;
/// Columns that can be allocated, at least.
const LEAST: usize = 32;

/// A place in tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) lane: usize,
    pub(crate) column: usize,
}

impl Place {
    /// The place that an address means.
    pub(crate) fn of(address: u32) -> Place {
        Place { lane: (address >> 16) as usize, column: (address & 0xffff) as usize }
    }

    /// Its first byte.
    pub(crate) fn byte(self) -> usize {
        (self.lane * COLUMNS + self.column) * WORD
    }
}

/// Columns that belong together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned {
    pub(crate) columns: usize,
    /// Whether the other block of the pair has them too.
    pub(crate) in_pair: bool,
    /// Who allocated them, and where.
    pub(crate) by: (Actor, u32),
}

/// A warp that waits for the other block of its pair, or for columns that are free in both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) warp: usize,
    pub(crate) own: Owned,
    /// The first column, if there is one now.
    pub(crate) first: Option<usize>,
}

pub(crate) struct Tensor {
    pub(crate) words: Vec<u32>,
    /// By their first columns.
    pub(crate) owned: BTreeMap<usize, Owned>,
    /// Whether the block allocates nothing more.
    pub(crate) relinquished: bool,
    /// An allocation of the pair.
    pub(crate) asked: Option<Asked>,
}

impl Default for Tensor {
    fn default() -> Self {
        Tensor { words: vec![0x5e5e_5e5e; LANES * COLUMNS], owned: BTreeMap::new(), relinquished: false, asked: None }
    }
}

/// Whether so many columns can be allocated.
pub(crate) fn is_allocation(columns: usize) -> bool {
    columns.is_power_of_two() && (LEAST..=COLUMNS).contains(&columns)
}

impl Tensor {
    fn is_free(&self, first: usize, columns: usize) -> bool {
        self.owned.iter().all(|(other, own)| first + columns <= *other || other + own.columns <= first)
    }

    /// Whether the lanes are there, and the columns allocated.
    pub(crate) fn has(&self, place: Place, columns: usize) -> bool {
        let own = self.owned.range(..=place.column).next_back();
        place.lane < LANES && own.is_some_and(|(first, own)| place.column + columns <= first + own.columns)
    }
}

/// The first column of so many that are free in all of these.
pub(crate) fn first_free(all: &[&Tensor], columns: usize) -> Option<usize> {
    let mut firsts = (0..=COLUMNS - columns).step_by(LEAST);
    firsts.find(|first| all.iter().all(|tensor| tensor.is_free(*first, columns)))
}

/// What a warp has begun.
#[derive(Default)]
pub(crate) struct Begun {
    pub(crate) loads: u32,
    pub(crate) stores: u32,
    /// Loads that it has not waited for.
    pub(crate) loading: Vec<Loading>,
}

/// A load whose registers have no value yet.
pub(crate) struct Loading {
    pub(crate) frame: usize,
    pub(crate) mask: u32,
    pub(crate) site: u32,
    /// The registers, by their names.
    pub(crate) registers: Vec<String>,
}
