//! When a launch has to have ended.

use std::time::Instant;

use crate::machine::Machine;
use crate::machine::stop::{Result, Why, stop};

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
        let (steps, others) = self.tell_the_others();
        if let Some(part) = &self.part {
            if steps > self.launch.steps {
                part.joint.end();
            }
            if part.joint.is_over() {
                return stop(Why::Late, "the parts of the launch are in vain");
            }
        }
        if self.launch.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let begun = self.next_cluster * self.cluster - self.blocks.first();
            let ended = others + (begun - self.blocks.iter().flatten().count()) as u64;
            let all: u64 = self.launch.blocks.iter().map(|size| u64::from(*size)).product();
            return stop(Why::Late, format!("{ended} of {all} blocks have ended, after {steps} instructions"));
        }
        Ok(())
    }

    /// Tells other parts of the launch how far this one is. Gives the instructions of all, and the blocks of others that have ended.
    pub(crate) fn tell_the_others(&mut self) -> (u64, u64) {
        match &mut self.part {
            None => (self.steps, 0),
            Some(part) => {
                let steps = self.steps - std::mem::replace(&mut part.told, self.steps);
                part.joint.add(steps, 0)
            }
        }
    }
}
