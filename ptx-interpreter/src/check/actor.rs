//! A thread, as the checks know it.

/// A thread, by its block's number in the grid and its own in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Actor {
    pub(crate) block: u32,
    pub(crate) number: usize,
}
