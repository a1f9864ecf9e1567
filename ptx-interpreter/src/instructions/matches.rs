//! `match.sync`: which threads have the same value.

use super::together::collective;
use crate::machine::Step;
use crate::machine::exchange::Exchange;
use crate::machine::lanes::{LANES, Lanes, lanes_of, lanes_where};
use crate::ptx::operand::Operand;

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

impl Exchange for Match {
    fn reads(&self) -> [Option<&Operand>; 3] {
        [Some(&self.value), None, None]
    }

    fn writes(&self) -> [Option<&Operand>; 2] {
        [Some(&self.to), self.same.as_ref()]
    }

    fn exchange(&self, [values, ..]: &[Lanes; 3], here: u32, _: u32) -> [Lanes; 2] {
        let values = values.map(|value| value & (u64::MAX >> (64 - self.bits)));
        let equal = |value| lanes_where(here, |lane| values[lane] == value);
        let all_same = equal(values[here.trailing_zeros() as usize]) == here;
        let mut results = [0; LANES];
        for lane in lanes_of(here) {
            let result: u32 = match self.of_all {
                true if all_same => here,
                true => 0,
                false => equal(values[lane]),
            };
            results[lane] = result.into();
        }
        [results, [all_same.into(); LANES]]
    }

    fn depends(&self, on: u32, is_own: bool) -> u64 {
        if self.of_all || is_own { u64::MAX } else { on.into() }
    }
}
