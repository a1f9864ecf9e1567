//! Instructions that only compute.

use smallvec::SmallVec;

use crate::alu::{Alu, CARRY as CARRY_SOURCE, FEW, Kind, SOURCES, alu, alu_of_three};
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
    /// The register of its only result, if that is none of its sources.
    apart: Option<usize>,
}

pub(crate) fn decode(opcode: &str, mut operands: Vec<Operand>) -> Action {
    let of_three = if operands.len() == 4 { alu_of_three(opcode) } else { None };
    let Some(alu) = of_three.or_else(|| alu(opcode)) else { return Action::Unknown(opcode.to_owned()) };
    if operands.len() != 1 + alu.from.len() {
        // The same words have other meanings with more operands.
        return Action::Unknown(format!("{opcode} of {} operands", operands.len()));
    }
    let mut made = Vec::new();
    let from: Vec<Source> =
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
    let is_source = |to: &Register| from.iter().any(|from| matches!(from, Source::Register(from) if *from == to.at));
    let is_alone = second.is_none() && narrow.is_none() && !alu.carries;
    let apart = first.filter(|to| is_alone && !is_source(to)).map(|to| to.at);
    Action::Straight(Box::new(Compute { alu, to: [first, second], from, made, narrow, apart }))
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
        let [result, also] = &mut machine.scratch;
        if let (Some(to), u32::MAX) = (self.apart, group.mask) {
            let (all, count) = (registers.as_mut_ptr(), registers.len());
            let place = |at: usize| {
                assert!(at < count);
                // SAFETY: it is a register of the frame.
                unsafe { all.add(at) }
            };
            // SAFETY: no source is the register of the result, and nothing else uses them meanwhile.
            unsafe { (self.alu.apply)(&self.sources(|at| &*place(at), &made), &mut *place(to), also, u32::MAX) };
            return Ok(());
        }
        (self.alu.apply)(&self.sources(|at| &registers[at], &made), result, also, group.mask);
        if let Some(to) = self.to[0] {
            if let Some(bits) = self.narrow {
                each(group.mask, |lane| result[lane] = extended(result[lane], bits, to.bits));
            }
            put(&mut registers[to.at], result, group.mask);
        }
        if self.alu.carries {
            put(&mut registers[CARRY], also, group.mask);
        } else if let Some(to) = self.to[1] {
            put(&mut registers[to.at], also, group.mask);
        }
        Ok(())
    }
}

impl Compute {
    #[inline(always)]
    fn sources<'v>(&'v self, register: impl Fn(usize) -> &'v Lanes, made: &'v [Lanes]) -> [&'v Lanes; SOURCES] {
        let mut sources = [&NOTHING; SOURCES];
        for (place, source) in sources.iter_mut().zip(&self.from) {
            *place = match source {
                Source::Register(at) => register(*at),
                Source::Constant(lanes) => lanes,
                Source::Made(place) => &made[*place],
            };
        }
        sources[CARRY_SOURCE] = register(CARRY);
        sources
    }
}

#[inline(always)]
fn put(register: &mut Lanes, values: &Lanes, mask: u32) {
    if mask == u32::MAX {
        *register = *values;
    } else if mask.count_ones() > FEW {
        for lane in 0..LANES {
            // All bits of those in the mask.
            let taken = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
            register[lane] ^= (register[lane] ^ values[lane]) & taken;
        }
    } else {
        each(mask, |lane| register[lane] = values[lane]);
    }
}

/// A signed number of `bits` bits in a wider register.
pub(crate) fn extended(value: u64, bits: u32, register: u32) -> u64 {
    let wide = ((value << (64 - bits)) as i64 >> (64 - bits)) as u64;
    wide & (u64::MAX >> (64 - register.min(64)))
}
