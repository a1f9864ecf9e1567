//! `griddepcontrol.wait`: the grid before this one has ended, and so this matters to the checks alone.

use crate::group::Group;
use crate::machine::{Machine, Step};
use crate::stop::Result;

pub(crate) struct Wait;

impl Step for Wait {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.watch_grid_before(group);
        Ok(())
    }
}
