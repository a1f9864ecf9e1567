//! When a launch has to have ended.

use std::time::Instant;

use crate::machine::Machine;
use crate::stop::{Result, Why, stop};

/// Instructions of warps after which the clock is asked.
const CLOCK: u64 = 512;

impl Machine<'_> {
    /// As much was done as this number of instructions of a warp. Now and then the clock is asked.
    #[inline]
    pub(crate) fn worked(&mut self, instructions: u64) -> Result<()> {
        self.unasked += instructions;
        if self.unasked < CLOCK { Ok(()) } else { self.look_at_the_clock() }
    }

    fn look_at_the_clock(&mut self) -> Result<()> {
        self.unasked = 0;
        if self.launch.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let begun = self.next_cluster * self.cluster;
            let ended = begun - self.blocks.iter().flatten().count();
            let (all, steps) = (self.blocks.len(), self.steps);
            return stop(Why::Late, format!("{ended} of {all} blocks have ended, after {steps} instructions"));
        }
        Ok(())
    }
}
