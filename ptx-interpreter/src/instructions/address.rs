//! `cvta`, `isspacep`, `mapa` and `getctarank`.

use crate::machine::group::{Group, Thread};
use crate::machine::lanes::LANES;
use crate::machine::stop::{Result, missing};
use crate::machine::{Machine, Step};
use crate::ptx::operand::{Operand, Space};

struct Address {
    what: What,
    operands: Vec<Operand>,
}

enum What {
    To(Space),
    From(Space),
    IsIn(String),
    Rank,
    There,
}

/// Whether it gives what it is given: global memory begins at the same place among all addresses.
pub(crate) fn is_move(words: &[&str], operands: &[Operand]) -> bool {
    matches!(words, ["cvta", "to", "global", "u64"] | ["cvta", "global", "u64"])
        && operands.iter().all(|operand| matches!(operand, Operand::Register(_)))
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let what = match words {
        ["cvta", "to", space, "u32" | "u64"] => What::To(Space::parse(space)?),
        ["cvta", space, "u32" | "u64"] => What::From(Space::parse(space)?),
        ["isspacep", space] => What::IsIn((*space).to_owned()),
        ["getctarank", ..] => What::Rank,
        ["mapa", ..] => What::There,
        _ => return None,
    };
    (operands.len() >= 2).then(|| Box::new(Address { what, operands }) as Box<dyn Step>)
}

impl Step for Address {
    fn computes(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let mut made = None;
        let values = machine.values(group, &self.operands[1], &mut made)?;
        let mut results = [0; LANES];
        match &self.what {
            // Such a space begins at the same place for all threads of a block.
            What::To(space) | What::From(space) if *space != Space::Local => {
                let first = self.of(machine, group.first(), 0)?;
                results = values.map(|value| value.wrapping_add(first));
            }
            _ => {
                for thread in group.threads() {
                    let result = self.of(machine, thread, values[thread.lane]);
                    results[thread.lane] = result.map_err(|stop| stop.by(thread.lane))?;
                }
            }
        }
        machine.set_operand(group, &self.operands[0], &results)
    }
}

impl Address {
    fn of(&self, machine: &Machine<'_>, thread: Thread, value: u64) -> Result<u64> {
        Ok(match &self.what {
            What::To(space) => machine.in_its_space(thread, *space, value),
            What::From(space) => machine.to_generic(thread, *space, value),
            What::IsIn(space) => machine.is_in(thread, value, space)?.into(),
            What::Rank => machine.rank_of(value),
            What::There => {
                let rank = machine.get(thread, self.operands.get(2).ok_or_else(missing)?)? as u64;
                machine.mapped(value, rank)?
            }
        })
    }
}
