//! A compare-and-swap of bytes beside which there are some that nobody has written. So it is where an atomic of one or two bytes is made
//! of one of four: what is beside them is read, compared and written again.

use super::kept::{bits_of, bytes_of};
use crate::check::Origin;
use crate::machine::Machine;
use crate::machine::group::Thread;
use crate::machine::lanes::lanes_where;
use crate::machine::undefined::Bits;
use crate::ptx::operand::Operand;

pub(super) const CHANGES: &str = "changes memory by it";

/// What such an atomic leaves as it was: the bytes, and why they are undefined.
pub(crate) struct Beside {
    bytes: u64,
    origin: Origin,
}

impl Machine<'_> {
    /// What a compare-and-swap leaves as it was, if what it compares with and what it writes have no value in the same bytes as memory.
    /// Where they have none in others, that is a finding.
    pub(crate) fn watch_compared(
        &mut self,
        thread: Thread,
        place: (u64, usize),
        operands: [&Operand; 2],
    ) -> Option<Beside> {
        if !self.may_have_undefined(thread.warp) {
            return None;
        }
        let without = self.without_value(thread, place, false);
        let own = operands.map(|operand| self.undefined_of(thread.alone(), operand));
        let bytes = own.map(|bits| bits.map_or(0, |bits| bytes_of(bits.lanes[thread.lane].into(), place.1)));
        if let Some((bytes, origin)) = without.filter(|(without, _)| bytes == [*without; 2]) {
            return Some(Beside { bytes, origin: Origin { is_compared: true, ..origin } });
        }
        for (bits, operand) in own.iter().zip(operands) {
            bits.iter().for_each(|bits| self.use_undefined(thread.alone(), bits, operand, CHANGES));
        }
        None
    }

    /// It has done so, and perhaps written.
    pub(crate) fn leaves_beside(
        &mut self,
        thread: Thread,
        (address, bytes): (u64, usize),
        to: Option<&Operand>,
        (beside, writes): (Beside, bool),
    ) {
        let Beside { bytes: without, origin } = beside;
        self.has_read_what_is_written();
        let checks = self.checks.iter_mut().filter(|_| writes);
        checks.for_each(|checks| checks.stores_undefined(address, bytes, without, Some(origin)));
        to.into_iter().for_each(|to| self.give_undefined(thread, to, bits_of(without, bytes), origin));
    }
}

/// The lanes in which two values that are compared are undefined in the same bits, if a compare-and-swap has found one of them. It has
/// compared them, so these bits are equal.
pub(super) fn are_compared(words: &[&str], [one, other]: [&Bits; 2]) -> u32 {
    let is_equality = words[0] == "setp" && matches!(words[1], "eq" | "ne");
    let is_compared = one.origin.is_compared || other.origin.is_compared;
    let mask = if is_equality && is_compared { one.mask() } else { 0 };
    lanes_where(mask, |lane| one.lanes[lane] == other.lanes[lane])
}
