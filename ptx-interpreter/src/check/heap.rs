//! What messages call the pieces of the heap.

use std::sync::Arc;

use super::checks::Checks;
use super::pieces::Piece;
use crate::memory::gaps::Gaps;

/// How the name of a piece goes on when it is freed.
const FREED: &str = ", which the kernel has freed";

/// Whether an address is in what was freed, by what messages call it.
pub(crate) fn is_freed(name: &str) -> bool {
    name.contains(FREED)
}

impl Checks {
    /// What there is in the heap before the launch, and where the launch's own pieces will begin.
    pub(crate) fn know_heap(&mut self, pieces: impl Iterator<Item = (u64, u64, bool)>, fresh: u64) {
        Arc::make_mut(&mut self.pieces)
            .of_the_heap()
            .extend(pieces.map(|(begin, bytes, is_freed)| piece(begin, bytes, is_freed)));
        self.fresh = fresh;
    }

    /// A thread has allocated a piece of the heap, or freed it.
    pub(crate) fn name_piece(&mut self, begin: u64, bytes: u64, is_freed: bool) {
        let piece = piece(begin, bytes, is_freed);
        let pieces = Arc::make_mut(&mut self.pieces).of_the_heap();
        match pieces.iter_mut().rev().find(|known| known.begin == begin) {
            Some(known) => *known = piece,
            None => pieces.push(piece),
        }
    }
}

/// Whether it is written is told by its address.
fn piece(begin: u64, bytes: u64, is_freed: bool) -> Piece {
    let freed = if is_freed { FREED } else { "" };
    let name = format!("memory that malloc gave{freed}").into();
    Piece { name, begin, bytes, unwritten: Gaps::default(), undefined: Gaps::default(), shared_with_grid_before: false }
}
