//! A thread, as the checks know it.

use crate::machine::lanes::LANES;

/// A thread, by its block's number in the grid and its own in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Actor {
    pub(crate) block: u32,
    pub(crate) number: usize,
}

impl Actor {
    /// Whether both are of one warp.
    pub(super) fn is_in_warp_of(self, other: Actor) -> bool {
        (self.block, self.number / LANES) == (other.block, other.number / LANES)
    }
}
