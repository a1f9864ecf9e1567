//! Looks at what others do.

/// How often a warp has looked at what others do since the last progress, and where.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Polls {
    pub(crate) progress: u64,
    pub(crate) count: u64,
    pub(crate) site: u32,
}
