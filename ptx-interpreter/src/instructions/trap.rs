//! `trap` and `brkpt`.

use crate::machine::group::Group;
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Machine, Step};

pub(crate) struct Trap(pub(crate) String);

impl Step for Trap {
    fn run<'a>(&'a self, _: &mut Machine<'a>, _: Group) -> Result<()> {
        stop(Why::Trap, self.0.clone())
    }
}
