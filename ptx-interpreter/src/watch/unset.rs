//! Registers that are read before anything was written to them: variables that a way through a function does not set.

use crate::check::{Cause, Origin};
use crate::machine::Machine;
use crate::machine::group::Group;
use crate::machine::lanes::LANES;
use crate::machine::undefined::Bits;
use crate::ptx::text::guarded;

impl Machine<'_> {
    /// A group begins a function. The registers that it may read before it writes them have no value.
    pub(crate) fn begins_unset(&mut self, group: Group) {
        if self.checks.is_none() {
            return;
        }
        let code = self.frame(group).code;
        let undefined = &mut self.warp_mut(group.warp).undefined;
        for (number, width) in code.read_first.iter().flat_map(|register| register.numbers()) {
            let bits = Bits { lanes: [u64::MAX >> (64 - width); LANES], origin: Origin::new(Cause::Unset, false) };
            undefined.set((group.frame, number), group.mask, Some(&bits));
        }
    }

    /// How some bits of a register came to be undefined, for what reads them now. A copy is no reading.
    pub(super) fn as_read(&self, group: Group, bits: Bits) -> Bits {
        let text = || guarded(&self.program.sites[self.site as usize].text).1;
        if !matches!(bits.origin.cause, Cause::Unset) || text().starts_with("mov.") {
            return bits;
        }
        let thread = group.thread(bits.mask().trailing_zeros() as usize);
        let cause = Cause::ReadUnset { reader: self.actor(thread), site: self.site };
        Bits { origin: Origin { cause, ..bits.origin }, ..bits }
    }
}
