//! How values come to be undefined.

use super::actor::Actor;

/// How bits came to be undefined.
#[derive(Clone, Copy)]
pub(crate) enum Cause {
    /// A shuffle reads a lane that is not there.
    Absent { reader: Actor, site: u32, lane: usize, why: Absence },
    /// A load reads `bytes` bytes from `begin` on. Nobody has written the one at `at`.
    Unwritten { reader: Actor, site: u32, begin: u64, bytes: usize, at: u64 },
    /// Nothing was written to a register, and nobody but copies has read it.
    Unset,
    /// An instruction computes with such a register, or does something else by it.
    ReadUnset { reader: Actor, site: u32 },
}

/// Why a lane is not there for a shuffle.
#[derive(Clone, Copy)]
pub(crate) enum Absence {
    NotInMask,
    /// The block has no such thread: its last warp is a part of one.
    NotInBlock,
    HasEnded,
}

/// How the bits of a value came to be undefined, and whether it is more than a copy of what was loaded with something else.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) cause: Cause,
    pub(crate) is_computed: bool,
    /// Whether a compare-and-swap has found it, and left it as it was.
    pub(crate) is_compared: bool,
}

impl Origin {
    pub(crate) fn new(cause: Cause, is_computed: bool) -> Origin {
        Origin { cause, is_computed, is_compared: false }
    }
}
