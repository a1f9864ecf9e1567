//! Calls, tables of branches, and ends.

use crate::group::Group;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::{Result, wrong};

/// `brx.idx`
pub(crate) struct Table {
    pub(crate) index: Operand,
    pub(crate) targets: Vec<usize>,
}

pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) results: Vec<u64>,
    pub(crate) arguments: Vec<u64>,
}

pub(crate) struct Return;

pub(crate) struct Exit;

impl Step for Table {
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
        machine.call(group, &self.name, &self.results, &self.arguments)
    }
}

impl Step for Return {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let ended = machine.leave(group);
        if ended == 0 { Ok(()) } else { machine.end(group) }
    }
}

impl Step for Exit {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.end(group)
    }
}
