//! Instructions that only compute.

use smallvec::SmallVec;

use crate::alu::{Alu, CARRY as CARRY_SOURCE, Kind, SOURCES, alu, alu_of_three};
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, each};
use crate::machine::stop::Result;
use crate::machine::{Action, Machine, Step};
use crate::ptx::operand::{Operand, Register};
use crate::ptx::places::CARRY;

static NOTHING: Lanes = [0; LANES];

/// Where a source comes from.
enum Source {
    Register(usize),
    Constant(Box<Lanes>),
    /// It is computed anew each time, as this one of those that are.
    Made(usize),
}

struct Compute {
    alu: Alu,
    to: [Option<Register>; 2],
    from: Vec<Source>,
    made: Vec<Operand>,
    /// Bits of a signed result that is narrower than its register.
    narrow: Option<u32>,
}

pub(crate) fn decode(opcode: &str, mut operands: Vec<Operand>) -> Action {
    let of_three = if operands.len() == 4 { alu_of_three(opcode) } else { None };
    let Some(alu) = of_three.or_else(|| alu(opcode)) else { return Action::Unknown(opcode.to_owned()) };
    if operands.len() != 1 + alu.from.len() {
        // The same words have other meanings with more operands.
        return Action::Unknown(format!("{opcode} of {} operands", operands.len()));
    }
    let mut made = Vec::new();
    let from =
        operands.drain(1..).zip(&alu.from).map(|(operand, ty)| source(operand.of_type(*ty), &mut made)).collect();
    let register = |operand: Operand| match operand {
        Operand::Register(register) => Some(Some(register)),
        Operand::Sink => Some(None),
        _ => None,
    };
    let to = match operands.pop() {
        Some(Operand::Pair(first, second)) if alu.to.len() == 2 => register(*first).zip(register(*second)),
        Some(one) => register(one).map(|one| (one, None)),
        None => None,
    };
    let Some((first, second)) = to else {
        return Action::Malformed(format!("{opcode} has no register for its result"));
    };
    let ty = alu.to[0];
    let narrow = first.filter(|to| ty.kind == Kind::Signed && ty.lanes == 1 && to.bits > ty.bits).map(|_| ty.bits);
    Action::Straight(Box::new(Compute { alu, to: [first, second], from, made, narrow }))
}

fn source(operand: Operand, made: &mut Vec<Operand>) -> Source {
    match operand {
        Operand::Register(register) => Source::Register(register.at),
        Operand::Number(number) => Source::Constant(Box::new([number as u64; LANES])),
        other => {
            made.push(other);
            Source::Made(made.len() - 1)
        }
    }
}

impl Step for Compute {
    fn computes(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let mut made: SmallVec<[Lanes; 2]> = SmallVec::new();
        for operand in &self.made {
            made.push(machine.lanes(group, operand)?);
        }
        let warp = machine.warps[group.warp].as_mut().expect("a warp that executes has not ended");
        let registers = &mut warp.frames[group.frame].registers;
        let mut sources = [&NOTHING; SOURCES];
        for (place, source) in sources.iter_mut().zip(&self.from) {
            *place = match source {
                Source::Register(register) => &registers[*register],
                Source::Constant(lanes) => lanes,
                Source::Made(place) => &made[*place],
            };
        }
        sources[CARRY_SOURCE] = &registers[CARRY];
        let results = &mut machine.scratch;
        (self.alu.apply)(&sources, results, group.mask);
        if let Some(to) = self.to[0] {
            if let Some(bits) = self.narrow {
                each(group.mask, |lane| results[0][lane] = extended(results[0][lane], bits, to.bits));
            }
            put(&mut registers[to.at], &results[0], group.mask);
        }
        if self.alu.carries {
            put(&mut registers[CARRY], &results[1], group.mask);
        } else if let Some(to) = self.to[1] {
            put(&mut registers[to.at], &results[1], group.mask);
        }
        Ok(())
    }
}

#[inline(always)]
fn put(register: &mut Lanes, values: &Lanes, mask: u32) {
    if mask == u32::MAX {
        *register = *values;
    } else {
        each(mask, |lane| register[lane] = values[lane]);
    }
}

/// A signed number of `bits` bits in a wider register.
pub(crate) fn extended(value: u64, bits: u32, register: u32) -> u64 {
    let wide = ((value << (64 - bits)) as i64 >> (64 - bits)) as u64;
    wide & (u64::MAX >> (64 - register.min(64)))
}
