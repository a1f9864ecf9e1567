//! How the current access goes, where the memory model lets it go several ways.

use crate::check::Way;
use crate::weak::delayed::LateRead;

/// How the current access goes, and who chooses it.
#[derive(Default)]
pub(crate) struct Older {
    /// Lanes and addresses, and what is there.
    pub(crate) values: Vec<(usize, u64, u64)>,
    /// Whoever runs the launch chooses, and not the seed.
    pub(crate) by_caller: bool,
    /// The way of the next access.
    pub(crate) way: Option<Way>,
    /// The number of the load that is performed.
    pub(crate) performed: Option<u64>,
    /// The lanes for which the current load is late.
    pub(crate) late: Vec<(usize, LateRead)>,
    /// How many ways there were besides the usual one, and which was chosen. 0 is the usual one.
    pub(crate) asked: usize,
    pub(crate) chosen: Option<usize>,
    /// What the seed chooses by, apart from whose turn it is.
    pub(crate) random: u64,
    /// Accesses that may have gone another way so far.
    pub(crate) deviations: u64,
    /// Whether the access that waits next is one for which its thread waits.
    pub(crate) rests: bool,
    /// What was written so far, and the round in which that last changed.
    pub(crate) progress: u64,
    pub(crate) since: u64,
}

impl Older {
    pub(crate) fn new(seed: u64) -> Older {
        Older { random: (seed ^ 0xd1b5_4a32_d192_ed03).max(1), ..Older::default() }
    }

    /// A number below that one.
    pub(crate) fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) % below
    }

    /// What a lane's load returns instead of what memory holds.
    #[inline]
    pub(crate) fn value(&self, lane: usize, address: u64) -> Option<u64> {
        if self.values.is_empty() {
            return None;
        }
        let found = self.values.iter().find(|(of, place, _)| (*of, *place) == (lane, address));
        found.map(|(_, _, value)| *value)
    }
}
