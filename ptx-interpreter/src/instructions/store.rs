//! `st`.

use crate::access::How;
use crate::alu::Type;
use crate::group::Group;
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::operand::{Operand, Space};
use crate::stop::Result;

struct Store {
    space: Space,
    /// Bytes of an element.
    bytes: usize,
    to: Operand,
    from: Vec<Operand>,
    how: How,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ty = Type::parse(words.last()?)?;
    let mut operands = operands.into_iter();
    let (to, from) = (operands.next()?, operands.next()?.lanes());
    let store = Store {
        space: Space::of(words),
        bytes: ty.bits as usize / 8,
        to,
        from: from.into_iter().map(|lane| lane.of_type(ty)).collect(),
        how: How::store(words),
    };
    Some(Box::new(store))
}

impl Step for Store {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let addresses = machine.addresses(group, self.space, &self.to)?;
        let whole = self.bytes * self.from.len();
        for thread in group.threads() {
            aligned(addresses[thread.lane], whole).map_err(|stop| stop.by(thread.lane))?;
        }
        for (number, from) in self.from.iter().enumerate() {
            if let Operand::Sink = from {
                continue;
            }
            let places = addresses.map(|address| address.wrapping_add((number * self.bytes) as u64));
            machine.perform_loads_before(group, &places, self.bytes)?;
            machine.watch(group, &places, self.bytes, self.how)?;
            if self.bytes == 16 {
                for thread in group.threads() {
                    let value = machine.get(thread, from)?;
                    machine.settle(thread, places[thread.lane], self.bytes)?;
                    let written = machine.write(places[thread.lane], &value.to_le_bytes());
                    written.map_err(|stop| stop.by(thread.lane))?;
                    machine.wrote(thread, places[thread.lane], self.bytes, value);
                }
                continue;
            }
            let values = machine.lanes(group, from)?;
            for thread in group.threads() {
                let lane = thread.lane;
                let stored = machine.store(thread, places[lane], self.bytes, values[lane], self.how);
                stored.map_err(|stop| stop.by(lane))?;
            }
        }
        Ok(())
    }
}
