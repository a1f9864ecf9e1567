//! Registers that products of `wgmma` read: those of a factor that is not in memory.

/// A product that was not waited for.
pub(crate) struct Reading {
    pub(crate) frame: usize,
    /// Its group, of those that the warp commits.
    pub(crate) group: u32,
    pub(crate) site: u32,
    pub(crate) registers: Vec<usize>,
    /// Those that are moved to them.
    pub(crate) sources: Vec<usize>,
}
