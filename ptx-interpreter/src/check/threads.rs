//! What is known of each thread of a block, and which threads of a warp know the same.

use std::ops::Index;

use crate::machine::lanes::{LANES, lanes_where};

/// Something for each thread of a block.
#[derive(Debug)]
pub(crate) struct Threads<S> {
    all: Vec<S>,
    /// Of each warp lanes that are known to be alike.
    alike: Vec<u32>,
}

impl<S: Clone> Threads<S> {
    pub(crate) fn new(one: S, count: usize) -> Threads<S> {
        Threads { all: vec![one; count], alike: vec![0; count.div_ceil(LANES)] }
    }

    /// That of a thread, which may change.
    pub(crate) fn change(&mut self, number: usize) -> &mut S {
        self.alike[number / LANES] = 0;
        &mut self.all[number]
    }

    /// The same, where nothing changes that makes threads alike.
    pub(crate) fn change_beside(&mut self, number: usize) -> &mut S {
        &mut self.all[number]
    }

    /// Of some lanes of a warp those that are as the lowest one is.
    #[inline]
    pub(crate) fn alike(&mut self, warp: usize, lanes: u32, is_as: impl Fn(&S, &S) -> bool) -> u32 {
        if lanes & !self.alike[warp] != 0 {
            let own = &self.all[warp * LANES..];
            let lowest = &own[lanes.trailing_zeros() as usize];
            let found = lanes_where(lanes, |lane| is_as(lowest, &own[lane]));
            self.alike[warp] = found;
        }
        lanes & self.alike[warp]
    }
}

impl<S> Index<usize> for Threads<S> {
    type Output = S;

    #[inline]
    fn index(&self, number: usize) -> &S {
        &self.all[number]
    }
}
