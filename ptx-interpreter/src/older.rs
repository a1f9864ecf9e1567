//! Older values that the current load returns.

/// What the current load returns, and who chooses it.
#[derive(Default)]
pub(crate) struct Older {
    /// Lanes and addresses, and what is there.
    pub(crate) values: Vec<(usize, u64, u64)>,
    /// Whoever runs the launch chooses, and not the seed.
    pub(crate) by_caller: bool,
    /// How many values there were to choose from, and which was chosen. 0 is the newest value.
    pub(crate) asked: usize,
    pub(crate) chosen: Option<usize>,
    /// What was written so far, and the round in which that last changed.
    pub(crate) progress: u64,
    pub(crate) since: u64,
}

impl Older {
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
