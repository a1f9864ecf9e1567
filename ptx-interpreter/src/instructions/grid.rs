//! `griddepcontrol`: here the grid before this one has ended, and the next one begins later. So this matters to the checks alone.

use crate::machine::group::Group;
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};

pub(crate) struct Wait;

impl Step for Wait {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.watch_grid_before(group);
        Ok(())
    }
}

pub(crate) struct LaunchDependents;

impl Step for LaunchDependents {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.watch_dependents(group);
        machine.gives_way = true;
        Ok(())
    }
}
