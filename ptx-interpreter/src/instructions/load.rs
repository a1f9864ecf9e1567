//! `ld` and `ldu`.

use std::ops::Range;

use super::compute::extended;
use crate::alu::Type;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, each};
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::memory::{aligned, all_aligned};
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Place, Register, Space};

struct Load {
    space: Space,
    /// Bytes of an element.
    bytes: usize,
    /// Bytes of all elements.
    whole: usize,
    is_signed: bool,
    /// Where the elements go, from the first to the last one that goes to a register.
    to: Vec<Operand>,
    /// The bytes before those.
    skipped: u64,
    /// The elements that go to registers, without those between. Nobody reads the others: a compiler makes one vector of three numbers, and
    /// the fourth may be of nobody.
    parts: Vec<Range<usize>>,
    from: Operand,
    how: How,
    /// Where it is, if it is an argument of the kernel: the same for all.
    argument: Option<u64>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ty = Type::parse(words.last()?)?;
    let mut operands = operands.into_iter();
    let (to, from) = (operands.next()?.lanes(), operands.next()?);
    let bytes = ty.bits as usize / 8;
    let whole = bytes * to.len();
    let (to, skipped) = from_first_to_last(to);
    let load = Load {
        space: Space::of(words),
        bytes,
        whole,
        argument: argument(&from).filter(|_| bytes <= 8),
        is_signed: ty.is_signed(),
        parts: parts(&to),
        to,
        skipped: (skipped * bytes) as u64,
        from,
        how: How::load(words),
    };
    Some(Box::new(load))
}

fn is_kept(to: &Operand) -> bool {
    !matches!(to, Operand::Sink)
}

/// The elements from the first to the last one that goes to a register, and how many are before them.
fn from_first_to_last(mut to: Vec<Operand>) -> (Vec<Operand>, usize) {
    let first = to.iter().position(is_kept).unwrap_or(0);
    let end = to.iter().rposition(is_kept).map_or(to.len(), |last| last + 1);
    to.truncate(end);
    (to.split_off(first), first)
}

/// The elements that go to registers, in as few pieces as there are.
fn parts(to: &[Operand]) -> Vec<Range<usize>> {
    let kept: Vec<usize> = (0..to.len()).filter(|at| is_kept(&to[*at])).collect();
    kept.chunk_by(|one, next| one + 1 == *next).map(|part| part[0]..part[part.len() - 1] + 1).collect()
}

fn argument(from: &Operand) -> Option<u64> {
    let Operand::Address(base, offset, _) = from else { return None };
    match **base {
        Operand::Name(Place::Entry(at), add) => Some(at.wrapping_add(add).wrapping_add(*offset)),
        _ => None,
    }
}

impl Step for Load {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        if let Some(address) = self.argument {
            let address = machine.parameters_of(group.first()).wrapping_add(address);
            return self.load_argument(machine, group, address).map_err(|stop| stop.by(group.first().lane));
        }
        if self.how.scope.is_some() {
            machine.polls();
        }
        let mut addresses = [0; LANES];
        machine.addresses(group, self.space, &self.from, &mut addresses)?;
        all_aligned(group, &addresses, self.whole)?;
        if self.space != Space::Const {
            machine.count_access(group.mask, &addresses, self.whole);
        }
        if self.skipped > 0 {
            addresses = addresses.map(|address| address.wrapping_add(self.skipped));
        }
        let whole = self.bytes * self.to.len();
        if machine.may_delay(group, &addresses, whole, self.how)? {
            let event = Box::new(move |machine: &mut Machine<'a>| self.perform(machine, group, &addresses));
            machine.delay_load(group, &addresses, (whole, self.to.len()), self.how, event);
            return Ok(());
        }
        self.perform(machine, group, &addresses)
    }
}

impl Load {
    fn load_argument(&self, machine: &mut Machine<'_>, group: Group, address: u64) -> Result<()> {
        aligned(address, self.whole)?;
        let address = address.wrapping_add(self.skipped);
        for (number, to) in self.to.iter().enumerate() {
            let value = machine.read_number(address + (number * self.bytes) as u64, self.bytes)?;
            if let Operand::Register(register) = to {
                machine.set_lanes(group, register.at, &[self.extended(value, register.bits); LANES]);
            }
        }
        Ok(())
    }

    /// A number that was loaded, in a register of so many bits.
    fn extended(&self, value: u64, bits: u32) -> u64 {
        let own = 8 * self.bytes as u32;
        if self.is_signed && bits > own { extended(value, own, bits) } else { value }
    }

    fn perform(&self, machine: &mut Machine<'_>, group: Group, addresses: &Lanes) -> Result<()> {
        if matches!(self.space, Space::Generic | Space::Local | Space::Entry | Space::Func) {
            machine.watch_local_load(group, addresses, self.bytes * self.to.len());
        }
        machine
            .reads_to_registers(|machine| machine.watch_load(group, addresses, self.bytes, &self.parts, self.how))?;
        machine.watch_loaded(group, addresses, self.bytes, &self.to, self.is_signed);
        match machine.loads_what_memory_holds() && self.bytes <= 8 {
            true => self.at_once(machine, group, addresses)?,
            false => self.one_by_one(machine, group, addresses)?,
        }
        if let (true, Some(scope)) = (self.how.acquires, self.how.scope) {
            machine.acquired(group.warp, scope);
        }
        Ok(())
    }

    /// The threads of a group load what memory has.
    fn at_once(&self, machine: &mut Machine<'_>, group: Group, addresses: &Lanes) -> Result<()> {
        let places = machine.places(group, addresses, self.bytes * self.to.len(), false)?;
        for (number, to) in self.to.iter().enumerate() {
            let Operand::Register(register) = to else { continue };
            // SAFETY: `places` checked that the bytes of all elements are there.
            unsafe { machine.gather(group, (&places, addresses), (number * self.bytes, self.bytes), register.at) };
            self.extend(machine, group, *register);
        }
        Ok(())
    }

    // Its many addresses are nothing that the short way should have room for.
    #[inline(never)]
    fn one_by_one(&self, machine: &mut Machine<'_>, group: Group, addresses: &Lanes) -> Result<()> {
        for (number, to) in self.to.iter().enumerate() {
            let places = addresses.map(|address| address.wrapping_add((number * self.bytes) as u64));
            if self.bytes == 16 {
                for thread in group.threads() {
                    let (lane, mut content) = (thread.lane, [0; 16]);
                    machine.read_into(places[lane], &mut content).map_err(|stop| stop.by(lane))?;
                    let value = u128::from_le_bytes(content);
                    let value = machine.found(thread, places[lane], 16, self.how, value);
                    machine.set(thread, to, value)?;
                }
                continue;
            }
            let Operand::Register(register) = to else { continue };
            let found = self.found(machine, group, &places)?;
            machine.set_lanes(group, register.at, &found);
            self.extend(machine, group, *register);
        }
        Ok(())
    }

    /// A register has what was loaded, and its upper bits get its sign.
    fn extend(&self, machine: &mut Machine<'_>, group: Group, register: Register) {
        if self.is_signed {
            let own = &mut machine.warp_mut(group.warp).frames[group.frame].registers[register.at];
            each(group.mask, |lane| own[lane] = self.extended(own[lane], register.bits));
        }
    }

    /// What the threads find, which need not be what memory holds.
    fn found(&self, machine: &mut Machine<'_>, group: Group, addresses: &Lanes) -> Result<Lanes> {
        let mut values = [0; LANES];
        for thread in group.threads() {
            let address = addresses[thread.lane];
            if let Some(older) = machine.weak.value(thread.lane, address) {
                values[thread.lane] = older;
                continue;
            }
            let value = machine.read_number(address, self.bytes).map_err(|stop| stop.by(thread.lane))?;
            values[thread.lane] = machine.found(thread, address, self.bytes, self.how, value.into()) as u64;
        }
        Ok(values)
    }
}
