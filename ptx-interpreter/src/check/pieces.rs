//! The pieces of memory that a kernel is given.

use std::ops::Deref;
use std::sync::Arc;

use crate::memory::gaps::Gaps;

/// A piece of memory that a kernel is given.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What messages call it: `argument 0`.
    pub name: Arc<str>,
    /// Its first address.
    pub begin: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Those of its bytes that have no values when the kernel begins.
    pub unwritten: Gaps,
    /// Those of them that a launch or a copy before has stored all the same: they were undefined before, too.
    pub undefined: Gaps,
    /// Whether the grid before this one may still use it, until `griddepcontrol.wait`.
    pub shared_with_grid_before: bool,
}

/// All of a launch, and what is asked of them for every page.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    all: Vec<Piece>,
    /// Where those begin and end whose bytes have no values.
    unwritten: Vec<(u64, u64)>,
}

impl Pieces {
    pub(crate) fn new(all: Vec<Piece>) -> Pieces {
        let mut unwritten: Vec<(u64, u64)> = all.iter().flat_map(|piece| piece.unwritten.ranges()).copied().collect();
        unwritten.sort_unstable();
        Pieces { all, unwritten }
    }

    /// What overlaps a range and has no values. Pieces do not overlap each other.
    pub(super) fn unwritten(&self, begin: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let behind = self.unwritten.partition_point(|(from, _)| *from < end);
        let before = self.unwritten[..behind].iter().rev();
        before
            .take_while(move |(_, until)| *until > begin)
            .map(move |(from, until)| (begin.max(*from), end.min(*until)))
    }

    /// Memory of the heap, which has a state of its own.
    pub(super) fn of_the_heap(&mut self) -> &mut Vec<Piece> {
        &mut self.all
    }
}

impl Deref for Pieces {
    type Target = [Piece];

    fn deref(&self) -> &[Piece] {
        &self.all
    }
}
