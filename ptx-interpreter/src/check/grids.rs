//! The grids of a launch on several GPUs.

use std::sync::Arc;

use super::clock::{Clock, Known};
use super::finding::Place;
use super::uses::Use;

/// Memory that was used before the launch begins on one GPU, and on another one it may begin earlier. Both are numbers among the launch
/// and its peers. No two of them overlap, but for those of the same bytes.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// Which one comes after it, and which may not.
    pub known_to: usize,
    /// See there.
    pub unknown_to: usize,
    /// The first address, and the one behind the last.
    pub begin: u64,
    /// See there.
    pub end: u64,
    /// How it was used.
    pub how: Use,
}

/// The grids of a launch, one after the other: of one kernel on each of some GPUs.
#[derive(Clone, Debug)]
pub(crate) struct Grids {
    /// Blocks of each.
    blocks: u32,
    /// The GPU of each.
    gpus: Arc<[u32]>,
}

impl Grids {
    /// Of so many blocks each.
    pub(crate) fn new(blocks: usize, gpus: impl Iterator<Item = u32>) -> Grids {
        Grids { blocks: blocks as u32, gpus: gpus.collect() }
    }

    pub(crate) fn count(&self) -> usize {
        self.gpus.len()
    }

    /// Whether there is one alone.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        self.gpus.len() == 1
    }

    /// The grid of a block.
    #[inline]
    pub(crate) fn of(&self, block: u32) -> usize {
        if self.is_one() { 0 } else { (block / self.blocks) as usize }
    }

    /// The GPU of a block.
    #[inline]
    pub(crate) fn gpu(&self, block: u32) -> u32 {
        self.gpus[self.of(block)]
    }

    /// A block's number becomes that in its grid, on its GPU.
    pub(crate) fn name(&self, place: &mut Place) {
        if !self.is_one() {
            place.gpu = Some(self.gpu(place.block));
            place.block = self.own(place.block);
        }
    }

    /// The number of a block in its grid.
    pub(crate) fn own(&self, block: u32) -> u32 {
        if self.is_one() { block } else { block % self.blocks }
    }
}

/// What is known of the grids.
#[derive(Debug)]
pub(super) struct Peers {
    pub(super) grids: Grids,
    /// What the threads of each know when they begin, and in which engine's time that is.
    pub(super) starts: Vec<(u32, Known)>,
    /// What those of each knew that have ended.
    pub(super) ends: Vec<Clock>,
    /// What each of them may not come after. It has one end after the other.
    pub(super) before: Vec<Vec<Before>>,
}

impl Peers {
    /// Each grid, and each other one whose beginning it knows in the end.
    pub(super) fn follow(&self) -> Vec<(usize, usize)> {
        let others = |(grid, end): (usize, &Clock)| {
            let known = |other: &usize| *other != grid && end.of_engine(self.starts[*other].0) > 0;
            (0..self.starts.len()).filter(known).map(move |other| (grid, other)).collect::<Vec<_>>()
        };
        self.ends.iter().enumerate().flat_map(others).collect()
    }

    pub(super) fn known_at_start(&self, block: u32) -> Known {
        self.starts[self.grids.of(block)].1.clone()
    }
}
