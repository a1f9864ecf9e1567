//! `nanosleep` and `pmevent`: a thread that sleeps only loses its turn.

use crate::machine::group::Group;
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};

pub(crate) struct Nothing;

impl Step for Nothing {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, _: Group) -> Result<()> {
        machine.gives_way = true;
        Ok(())
    }
}
