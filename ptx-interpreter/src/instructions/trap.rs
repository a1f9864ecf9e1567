//! `trap` and `brkpt`.

use crate::machine::{Group, Machine, Step};
use crate::stop::{Result, Why, stop};

pub(crate) struct Trap(pub(crate) String);

impl Step for Trap {
    fn run<'a>(&'a self, _: &mut Machine<'a>, _: Group) -> Result<()> {
        stop(Why::Trap, self.0.clone())
    }
}
