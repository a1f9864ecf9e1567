//! `trap` and `brkpt`.

use crate::group::Group;
use crate::machine::{Machine, Step};
use crate::stop::{Result, Why, stop};

pub(crate) struct Trap(pub(crate) String);

impl Step for Trap {
    fn run<'a>(&'a self, _: &mut Machine<'a>, _: Group) -> Result<()> {
        stop(Why::Trap, self.0.clone())
    }
}
