//! `mov` between a register and a vector of its parts, and of 128 bits.

use crate::alu::{Type, low};
use crate::machine::group::Group;
use crate::machine::lanes::each;
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;

struct Move {
    bits: u32,
    to: Vec<Operand>,
    from: Vec<Operand>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let bits = Type::parse(words.last()?)?.bits;
    let [to, from] = <[Operand; 2]>::try_from(operands).ok()?.map(Operand::lanes);
    let are_whole = |lanes: &[Operand]| matches!(lanes.len(), 1 | 2 | 4) && bits as usize >= lanes.len();
    (are_whole(&to) && are_whole(&from)).then(|| Box::new(Move { bits, to, from }) as Box<dyn Step>)
}

impl Step for Move {
    fn computes(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        if self.bits <= 64 {
            return self.narrow(machine, group);
        }
        let part = |lanes: usize| self.bits / lanes as u32;
        for thread in group.threads() {
            let mut whole = 0;
            for (number, lane) in self.from.iter().enumerate() {
                whole |=
                    low(machine.get(thread, lane)?, part(self.from.len())) << (part(self.from.len()) * number as u32);
            }
            for (number, lane) in self.to.iter().enumerate() {
                machine.set(thread, lane, low(whole >> (part(self.to.len()) * number as u32), part(self.to.len())))?;
            }
        }
        Ok(())
    }
}

impl Move {
    fn narrow(&self, machine: &mut Machine<'_>, group: Group) -> Result<()> {
        let mask = |bits: u32| u64::MAX >> (64 - bits);
        let part = self.bits / self.from.len() as u32;
        let mut whole = [0; 32];
        for (number, operand) in self.from.iter().enumerate() {
            let values = machine.lanes(group, operand)?;
            each(group.mask, |lane| whole[lane] |= (values[lane] & mask(part)) << (part * number as u32));
        }
        let part = self.bits / self.to.len() as u32;
        for (number, operand) in self.to.iter().enumerate() {
            if let Operand::Register(register) = operand {
                let values = whole.map(|value| value >> (part * number as u32) & mask(part));
                machine.set_lanes(group, register.at, &values);
            }
        }
        Ok(())
    }
}
