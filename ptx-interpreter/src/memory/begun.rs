//! Copies that a thread has begun, and their groups.

use crate::memory::change::Change;

/// A copy that was begun.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) to: u64,
    pub(crate) from: u64,
    /// How many bytes are read.
    pub(crate) read: usize,
    pub(crate) size: usize,
    /// Whether a barrier does not count it: it lies between packed elements.
    pub(crate) is_padding: bool,
    /// What stands in each two bytes of the rest.
    pub(crate) rest: [u8; 2],
    /// Whether the elements are of tf32, to which they are rounded.
    pub(crate) tf32: bool,
    /// Which of each 16 bytes are written.
    pub(crate) mask: u16,
    /// How the values are changed, instead of written.
    pub(crate) change: Option<Change>,
}

impl Copy {
    /// All bytes, as they are.
    pub(crate) fn plain(to: u64, from: u64, size: usize) -> Copy {
        Copy { to, from, read: size, size, is_padding: false, rest: [0; 2], tf32: false, mask: u16::MAX, change: None }
    }
}

/// A thread's copies of one kind: those of no group yet, and its groups.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pub(crate) open: Vec<Copy>,
    groups: Vec<Vec<Copy>>,
    /// Groups that were committed, and of those the ones that are done.
    pub(crate) committed: u32,
    pub(crate) done: u32,
}

/// What a thread has begun: by `cp.async`, by `cp.async.bulk`, and by `tcgen05`.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    pub(crate) small: Copies,
    pub(crate) bulk: Copies,
    /// Products and copies by `tcgen05` so far.
    pub(crate) tensor: u32,
}

/// What threads of a warp copied last by an instruction: where to and from, and which of them.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    places: Vec<(u64, u64)>,
    lanes: u32,
}

impl Stored {
    /// A thread copies that. Whether another one of its warp has copied the same.
    pub(crate) fn again(&mut self, lane: usize, copies: &[Copy]) -> bool {
        let places = copies.iter().map(|copy| (copy.to, copy.from));
        let own = 1 << lane;
        if self.lanes & own == 0 && self.lanes != 0 && places.clone().eq(self.places.iter().copied()) {
            self.lanes |= own;
            return true;
        }
        *self = Stored { places: places.collect(), lanes: own };
        false
    }
}

impl Copies {
    /// Those of all groups, and of none.
    pub(crate) fn rest(&mut self) -> Vec<Copy> {
        let mut all = self.due(0);
        all.append(&mut self.open);
        all
    }

    pub(crate) fn commit(&mut self) {
        let group = std::mem::take(&mut self.open);
        self.groups.push(group);
        self.committed += 1;
    }

    /// Those to complete if `left` of the newest groups may stay in flight.
    pub(crate) fn due(&mut self, left: usize) -> Vec<Copy> {
        let done = self.groups.len().saturating_sub(left);
        self.done += done as u32;
        self.groups.drain(..done).flatten().collect()
    }
}
