//! Loads that return other values than the newest one, as a GPU's may.

use crate::access::How;
use crate::group::{Group, Thread};
use crate::lanes::Lanes;
use crate::machine::Machine;
use crate::stop::{Result, Why, stop};

/// One load in this number of loads that may return an older value does.
const RARE: u64 = 2;
/// Rounds in which nothing is written, after which loads return the newest values: a thread that waits sees a write in the end.
const SEEN: u64 = 16;

impl Machine<'_> {
    /// Loads may return every value that the memory model allows.
    pub(crate) fn weaken(&mut self) {
        if let Some(checks) = &mut self.checks {
            checks.remember_values();
        }
    }

    /// How many elements each thread of a group loads.
    pub(crate) fn watch_load(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        elements: usize,
        how: How,
    ) -> Result<()> {
        let is_weak = self.remembers_values();
        if !is_weak && how.scope.is_none() {
            return self.watch(group, addresses, bytes * elements, how);
        }
        // Each element of a strong vector is a strong access.
        self.weak.values.clear();
        for element in 0..elements {
            for thread in group.threads() {
                let address = addresses[thread.lane].wrapping_add((element * bytes) as u64);
                if is_weak && bytes <= 8 {
                    self.choose_value(thread, address, bytes)?;
                }
                self.watch_one(thread, address, bytes, how)?;
            }
        }
        Ok(())
    }

    /// Whether a write may still be on its way to those who have not seen it.
    pub(crate) fn is_in_time(&mut self) -> bool {
        if self.weak.progress != self.progress {
            (self.weak.progress, self.weak.since) = (self.progress, self.round);
        }
        self.round - self.weak.since < SEEN
    }

    fn choose_value(&mut self, thread: Thread, address: u64, bytes: usize) -> Result<()> {
        let actor = self.actor(thread);
        let in_time = self.is_in_time();
        let Some(checks) = &mut self.checks else { return Ok(()) };
        let count = checks.older_values(actor, address, bytes);
        if count == 0 {
            return Ok(());
        }
        let which = match (self.weak.by_caller, self.weak.chosen.take()) {
            (true, None) => {
                self.weak.asked = count;
                return stop(Why::Wrong, "a value has to be chosen");
            }
            (true, Some(which)) => which,
            (false, _) if in_time && self.draw(RARE) == 0 => 1 + self.draw(count as u64) as usize,
            (false, _) => 0,
        };
        let site = self.site;
        let Some(checks) = self.checks.as_mut().filter(|_| which > 0) else { return Ok(()) };
        if let Some(value) = checks.choose_value(actor, address, bytes, which - 1) {
            checks.note_older(actor, site, address, bytes, value);
            self.weak.values.push((thread.lane, address, value));
        }
        Ok(())
    }
}
