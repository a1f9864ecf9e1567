//! `vote.sync` and `activemask`.

use super::together::{Together, collective, give, mask_of, values};
use crate::group::{Group, Thread};
use crate::lanes::LANES;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::Result;

enum How {
    All,
    Any,
    Uniform,
    Ballot,
}

struct Vote {
    how: How,
    to: Operand,
    holds: Operand,
}

struct Active(Operand);

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    if words[0] == "activemask" {
        return Some(Box::new(Active(operands.into_iter().next()?)));
    }
    // ptxas takes `vote.ballot.sync` too, which CUB writes.
    let (["vote", "sync", how, of_type] | ["vote", how, "sync", of_type]) = words else { return None };
    let how = match (*how, *of_type) {
        ("all", "pred") => How::All,
        ("any", "pred") => How::Any,
        ("uni", "pred") => How::Uniform,
        ("ballot", "b32") => How::Ballot,
        _ => return None,
    };
    let [to, holds, mask] = operands.try_into().ok()?;
    collective(mask, Vote { how, to, holds })
}

impl Together for Vote {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let holds = values(machine, all, &self.holds)?;
        let holding = mask_of(all.iter().filter(|thread| holds[thread.lane] == 1));
        let every = mask_of(all);
        let value = match self.how {
            How::All => (holding == every).into(),
            How::Any => (holding != 0).into(),
            How::Uniform => (holding == 0 || holding == every).into(),
            How::Ballot => holding,
        };
        give(machine, all, &self.to, &[value.into(); LANES])
    }
}

impl Step for Active {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.set_operand(group, &self.0, &[group.mask.into(); LANES])
    }
}
