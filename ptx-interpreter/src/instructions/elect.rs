//! `elect.sync`: the first thread of the mask leads.

use super::together::collective;
use crate::machine::Step;
use crate::machine::exchange::Exchange;
use crate::machine::lanes::{LANES, Lanes};
use crate::ptx::operand::Operand;

struct Elect {
    leader: Operand,
    leads: Operand,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let [to, mask] = operands.try_into().ok()?;
    match (words, to) {
        (["elect", "sync"], Operand::Pair(leader, leads)) => collective(mask, Elect { leader: *leader, leads: *leads }),
        _ => None,
    }
}

impl Exchange for Elect {
    fn reads(&self) -> [Option<&Operand>; 3] {
        [None; 3]
    }

    fn writes(&self) -> [Option<&Operand>; 2] {
        [&self.leader, &self.leads].map(Some)
    }

    fn exchange(&self, _: &[Lanes; 3], _: u32, mask: u32) -> [Lanes; 2] {
        let leader = mask.trailing_zeros();
        let mut leads = [0; LANES];
        leads[leader as usize % LANES] = 1;
        [[leader.into(); LANES], leads]
    }
}
