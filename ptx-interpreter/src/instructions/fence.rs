//! `fence` and `membar`: without an L1 and without delays memory is in order here, so they matter to the checks alone.

use crate::access::Fence;
use crate::group::Group;
use crate::machine::{Machine, Step};
use crate::stop::Result;

pub(crate) fn decode(words: &[&str]) -> Option<Box<dyn Step>> {
    Some(Box::new(Fence::of(words)))
}

impl Step for Fence {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.watch_fence(group, *self);
        machine.fence_proxies(*self);
        if let Fence::Memory { scope, acquires: true, .. } = self {
            machine.acquired(group.warp, *scope);
        }
        if matches!(self, Fence::Memory { is_sc: true, .. }) {
            machine.fenced();
        }
        Ok(())
    }
}
