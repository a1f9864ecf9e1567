//! `fence` and `membar`: without an L1 and without delays memory is in order here, so they matter to the checks alone.

use crate::machine::group::Group;
use crate::machine::lanes::LANES;
use crate::machine::stop::{Result, missing};
use crate::machine::{Machine, Step};
use crate::ptx::access::Fence;
use crate::ptx::operand::{Operand, Space};

/// `fence.proxy.tensormap::generic.acquire` of a map.
struct AcquireMap(Vec<Operand>);

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    match words {
        ["fence", "proxy", "tensormap::generic", "acquire", ..] => Some(Box::new(AcquireMap(operands))),
        _ => Some(Box::new(Fence::of(words))),
    }
}

impl Step for Fence {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.watch_fence(group, *self);
        machine.fence_proxies(*self);
        if let Fence::Memory { scope, acquires: true, .. } = self {
            machine.acquired(group.warp, *scope);
        }
        if matches!(self, Fence::Memory { is_sc: true, .. }) {
            machine.fenced(group.warp);
        }
        Ok(())
    }
}

impl Step for AcquireMap {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let mut maps = [0; LANES];
        machine.addresses(group, Space::Generic, self.0.first().ok_or_else(missing)?, &mut maps)?;
        machine.watch_map_acquire(group, &maps);
        Ok(())
    }
}
