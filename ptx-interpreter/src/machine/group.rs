//! Threads of a warp that execute together.

/// Threads of a warp that execute an instruction together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) warp: usize,
    pub(crate) frame: usize,
    pub(crate) mask: u32,
}

impl Group {
    pub(crate) fn threads(self) -> impl Iterator<Item = Thread> {
        crate::machine::lanes::lanes_of(self.mask).map(move |lane| self.thread(lane))
    }

    /// The thread of its lowest lane.
    pub(crate) fn first(self) -> Thread {
        self.thread(self.mask.trailing_zeros() as usize)
    }

    pub(crate) fn thread(self, lane: usize) -> Thread {
        Thread { warp: self.warp, frame: self.frame, lane }
    }
}

/// A thread, in a call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) warp: usize,
    pub(crate) frame: usize,
    pub(crate) lane: usize,
}

impl Thread {
    /// It alone as a group.
    pub(crate) fn alone(self) -> Group {
        Group { warp: self.warp, frame: self.frame, mask: 1 << self.lane }
    }
}
