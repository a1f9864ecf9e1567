//! `nanosleep` and `pmevent`: a thread that sleeps only loses its turn.

use crate::group::Group;
use crate::machine::{Machine, Step};
use crate::stop::Result;

pub(crate) struct Nothing;

impl Step for Nothing {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, _: Group) -> Result<()> {
        machine.gives_way = true;
        Ok(())
    }
}
