//! `prefetch`, `applypriority` and `discard`. The first two are hints: no memory has to be there, but for a tensor map.
//! `discard` loses what is in its memory.

use crate::machine::group::Group;
use crate::machine::lanes::LANES;
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::memory::{aligned, all_aligned};
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Space};

struct Prefetch(Space, Operand);
struct PrefetchMap(Space, Operand);
/// It takes no address outside of the window of global memory, whether it says `.global` or not.
struct Priority(Operand);
struct Discard(Space, Operand);

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let (space, place) = (Space::of(words), operands.into_iter().next()?);
    Some(match words[0] {
        "discard" => Box::new(Discard(space, place)),
        "applypriority" => Box::new(Priority(place)),
        _ if words.contains(&"tensormap") => Box::new(PrefetchMap(space, place)),
        _ => Box::new(Prefetch(space, place)),
    })
}

impl Step for Prefetch {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.addresses(group, self.0, &self.1, &mut [0; LANES])
    }
}

impl Step for PrefetchMap {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        needs(machine, group, self.0, &self.1, 64, 128)
    }
}

impl Step for Priority {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let mut addresses = [0; LANES];
        machine.addresses(group, Space::Global, &self.0, &mut addresses)?;
        all_aligned(group, &addresses, 128)
    }
}

impl Step for Discard {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        needs(machine, group, self.0, &self.1, 128, 128)?;
        for thread in group.threads() {
            let address = machine.address(thread, self.0, &self.1)?;
            machine.watch_one(thread, address, 128, How::DISCARD)?;
            machine.write(address, &[0xdd; 128]).map_err(|stop| stop.by(thread.lane))?;
        }
        Ok(())
    }
}

/// There has to be memory.
fn needs(
    machine: &mut Machine<'_>,
    group: Group,
    space: Space,
    place: &Operand,
    align: usize,
    bytes: usize,
) -> Result<()> {
    for thread in group.threads() {
        let address = machine.address(thread, space, place)?;
        let there = aligned(address, align).and_then(|()| machine.there(address, bytes, false));
        there.map_err(|stop| stop.by(thread.lane))?;
    }
    Ok(())
}
