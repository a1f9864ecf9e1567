//! `elect.sync`: the first thread of the mask leads.

use super::together::{Together, collective};
use crate::group::Thread;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::Result;

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

impl Together for Elect {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], mask: u32) -> Result<()> {
        let leader = mask.trailing_zeros();
        for thread in all {
            machine.set(*thread, &self.leader, leader.into())?;
            machine.set(*thread, &self.leads, (thread.lane as u32 == leader).into())?;
        }
        Ok(())
    }
}
