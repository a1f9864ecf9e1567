//! `createpolicy`.

use ptx_intrinsics::caching::{CachePolicy, L2EvictUnchanged};

use crate::machine::group::{Group, Thread};
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::ptx::operand::{Operand, Space};

struct Policy {
    kind: Kind,
    space: Space,
    /// The bits of the priorities.
    priorities: u64,
    operands: Vec<Operand>,
}

enum Kind {
    Converted,
    Range,
    Fractional,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let kind = match *words.get(1)? {
        "cvt" => Kind::Converted,
        "range" => Kind::Range,
        _ => Kind::Fractional,
    };
    let names: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("L2::evict_")).collect();
    let primary = |name: &&str| ["unchanged", "first", "last", "normal"].iter().position(|word| word == name);
    let primary = names.first().and_then(primary);
    if primary.is_none() && !matches!(kind, Kind::Converted) {
        return None;
    }
    let secondary = u64::from(names.get(1) == Some(&"first")) << 56;
    let priorities = (primary.unwrap_or_default() as u64) << 57 | secondary;
    operands.first()?;
    Some(Box::new(Policy { kind, space: Space::of(words), priorities, operands }))
}

impl Step for Policy {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            let bits = self.bits(machine, thread)?;
            machine.set(thread, &self.operands[0], bits.into())?;
        }
        Ok(())
    }
}

impl Policy {
    fn bits(&self, machine: &Machine<'_>, thread: Thread) -> Result<u64> {
        let value = |number: usize| machine.number(thread, &self.operands, number);
        match self.kind {
            Kind::Converted => value(1),
            Kind::Range => {
                let place = self.operands.get(1).ok_or_else(crate::machine::stop::missing)?;
                let address = machine.address(thread, self.space, place)?;
                let (primary, total) = (value(2)? as u32, value(3)? as u32);
                let range = CachePolicy::encode_range::<L2EvictUnchanged>(address, primary, total).bits();
                // A range of no bytes has no priorities.
                Ok(if total == 0 { range } else { range | self.priorities })
            }
            Kind::Fractional => {
                let fraction = match self.operands.get(1) {
                    None => 1.0,
                    Some(Operand::Decimal(fraction)) => *fraction as f32,
                    Some(_) => f32::from_bits(value(1)? as u32),
                };
                Ok(2 << 59 | self.priorities | ((fraction * 15.99) as u64) << 52)
            }
        }
    }
}
