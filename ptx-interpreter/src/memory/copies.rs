//! Copies that are done when somebody waits for them, as late as a GPU may do them, and what is sent to another block.

use ptx_intrinsics::on_cpu::tensor::round_to_tf32;

use crate::check::Kind;
use crate::machine::stop::{Result, Stop, Why};
use crate::machine::{Event, Machine};
use crate::memory::begun::Copy;
use crate::memory::change::Change;

/// Rounds that something sent to another block is on its way, at most.
const DELAY: u64 = 8;
/// Bytes of a copy that take as long as an instruction of a warp.
const BYTES: u64 = 64;

impl<'a> Machine<'a> {
    /// Lets a copy be done later, after all that were begun before.
    pub(crate) fn copy_later(&mut self, event: Event<'a>) {
        let due = self.due(self.copies.back().map(|(due, _)| *due));
        self.copies.push_back((due, event));
    }

    /// Sends something to another block.
    pub(crate) fn send(&mut self, event: Event<'a>) {
        let due = self.due(self.sent.back().map(|(due, _)| *due));
        self.sent.push_back((due, event));
    }

    fn due(&mut self, last: Option<u64>) -> u64 {
        let due = self.round + 1 + self.draw(DELAY);
        last.map_or(due, |last| due.max(last))
    }

    /// What is due until a round happens.
    pub(crate) fn happen(&mut self, until: u64) -> Result<()> {
        self.happen_late(until)?;
        self.come(until)
    }

    /// What is sent and copied until a round comes.
    pub(crate) fn come(&mut self, until: u64) -> Result<()> {
        self.deliver(until)?;
        while self.copies.front().is_some_and(|(due, _)| *due <= until) {
            let Some((_, event)) = self.copies.pop_front() else { break };
            let result = event(self);
            // Its block may have ended, which is told then, and is no mistake of the instruction that somebody executes now.
            let is_told = |stop: &Stop| stop.why == Why::Astray && self.has_found(Kind::Async);
            if !result.as_ref().is_err_and(is_told) {
                result?;
            }
        }
        Ok(())
    }

    fn has_found(&self, kind: Kind) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.has(kind))
    }

    /// Moves the bytes of copies by the async proxy.
    pub(crate) fn perform(&mut self, due: &[Copy]) -> Result<()> {
        self.move_bytes(due, Self::read_by_proxy)
    }

    /// Changes the values from an address on, each by the one at its place.
    pub(crate) fn change(&mut self, change: Change, to: u64, by: &[u8]) -> Result<()> {
        for (at, by) in by.chunks_exact(change.bytes).enumerate() {
            let to = to + (at * change.bytes) as u64;
            let by = by.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte));
            if self.changes_later(to, change, by) {
                continue;
            }
            let old = self.read_number(to, change.bytes)?;
            self.write_number(to, change.bytes, change.changed(old.into(), (by, None)) as u64)?;
        }
        Ok(())
    }

    /// Moves the bytes of copies.
    pub(crate) fn move_bytes(
        &mut self,
        due: &[Copy],
        read: impl Fn(&mut Self, u64, usize) -> Result<Vec<u8>>,
    ) -> Result<()> {
        for copy in due {
            self.worked(1 + copy.size as u64 / BYTES)?;
            let mut content = if copy.read == 0 { Vec::new() } else { read(self, copy.from, copy.read)? };
            if copy.tf32 {
                round_to_tf32(&mut content);
            }
            content.extend((content.len()..copy.size).map(|at| copy.rest[at % 2]));
            if let Some(change) = copy.change {
                self.change(change, copy.to, &content)?;
                continue;
            }
            if copy.mask == u16::MAX {
                self.write(copy.to, &content)?;
                continue;
            }
            for (at, byte) in content.iter().enumerate().filter(|(at, _)| copy.mask >> (at % 16) & 1 == 1) {
                self.write(copy.to + at as u64, &[*byte])?;
            }
        }
        Ok(())
    }
}
