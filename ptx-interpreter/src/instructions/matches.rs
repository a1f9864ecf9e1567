//! `match.sync`: which threads have the same value.

use super::together::{Together, collective, mask_of, values};
use crate::group::Thread;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::Result;

struct Match {
    /// Whether all have to have it.
    of_all: bool,
    bits: u32,
    to: Operand,
    same: Option<Operand>,
    value: Operand,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let (of_all, bits) = match words {
        ["match", how @ ("any" | "all"), "sync", ty @ ("b32" | "b64")] => (*how == "all", ty[1..].parse().ok()?),
        _ => return None,
    };
    let [to, value, mask] = operands.try_into().ok()?;
    let (to, same) = match to {
        Operand::Pair(to, same) => (*to, Some(*same)),
        to => (to, None),
    };
    collective(mask, Match { of_all, bits, to, same, value })
}

impl Together for Match {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], mask: u32) -> Result<()> {
        let values = values(machine, all, &self.value)?.map(|value| value & (u64::MAX >> (64 - self.bits)));
        let equal = |value: u64| mask_of(all.iter().filter(|thread| values[thread.lane] == value));
        let all_same = equal(values[all[0].lane]) == mask_of(all);
        for thread in all {
            let result = match self.of_all {
                true if all_same => mask,
                true => 0,
                false => equal(values[thread.lane]),
            };
            machine.set(*thread, &self.to, result.into())?;
            if let Some(same) = &self.same {
                machine.set(*thread, same, all_same.into())?;
            }
        }
        Ok(())
    }
}
