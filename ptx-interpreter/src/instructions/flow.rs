//! Calls, tables of branches, and ends.

use crate::machine::group::Group;
use crate::machine::lanes::lanes_of;
use crate::machine::stop::{Result, wrong};
use crate::machine::{Machine, Step};
use crate::memory::spaces::function_at;
use crate::ptx::operand::Operand;

/// `brx.idx`
pub(crate) struct Table {
    pub(crate) index: Operand,
    pub(crate) targets: Vec<usize>,
}

/// The function that is called.
pub(crate) enum Callee {
    Name(String),
    Address(Operand),
}

pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) results: Vec<u64>,
    pub(crate) arguments: Vec<u64>,
}

pub(crate) struct Return;

pub(crate) struct Exit;

impl Step for Table {
    fn targets(&self) -> Option<&[usize]> {
        Some(&self.targets)
    }

    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            let index = machine.get(thread, &self.index)? as u32 as usize;
            let no_entry = || wrong(format!("the table has no entry {index}")).by(thread.lane);
            let target = *self.targets.get(index).ok_or_else(no_entry)?;
            machine.warp_mut(group.warp).at[thread.lane].1 = target as u32;
        }
        Ok(())
    }
}

impl Step for Call {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let target = match &self.callee {
            Callee::Name(name) => return machine.call(group, name, &self.results, &self.arguments),
            Callee::Address(target) => target,
        };
        let (targets, program, mut rest) = (machine.lanes(group, target)?, machine.program, group.mask);
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let address = targets[first];
            let mask = lanes_of(rest).filter(|lane| targets[*lane] == address).fold(0, |mask, lane| mask | 1 << lane);
            rest &= !mask;
            let name = function_at(address).and_then(|number| program.names.get(number));
            let name = name.ok_or_else(|| wrong(format!("no function is at {address:#x}")).by(first))?;
            machine.call(Group { mask, ..group }, name, &self.results, &self.arguments)?;
        }
        Ok(())
    }
}

impl Step for Return {
    fn targets(&self) -> Option<&[usize]> {
        Some(&[])
    }

    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let ended = machine.leave(group);
        if ended == 0 { Ok(()) } else { machine.end(group) }
    }
}

impl Step for Exit {
    fn targets(&self) -> Option<&[usize]> {
        Some(&[])
    }

    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.end(group)
    }
}
