//! `tensormap.replace` and `tensormap.cp_fenceproxy`: tensor maps that a kernel changes.

use ptx_intrinsics::on_cpu::tensor::{BYTES, Field};

use super::tensor::given;
use super::together::{Together, collective};
use crate::machine::group::{Group, Thread};
use crate::machine::stop::{Result, missing, wrong};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::ptx::access::{Fence, How};
use crate::ptx::operand::{Operand, Space};

struct Replace {
    field: Field,
    /// PTX's word for it.
    word: String,
    space: Space,
    operands: Vec<Operand>,
}

struct Publish {
    into: Space,
    of: Space,
    operands: Vec<Operand>,
}

pub(crate) fn replace(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let word = (*words.get(3)?).to_owned();
    // `global_address` is no word for a space.
    let space = words.get(4..).map(Space::of)?;
    Some(Box::new(Replace { field: Field::named(&word)?, word, space, operands }))
}

pub(crate) fn publish(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ["tensormap", "cp_fenceproxy", into, of, ..] = words else { return None };
    let [into, of] = [Space::parse(into)?, Space::parse(of)?];
    collective(Operand::Number(u32::MAX.into()), Publish { into, of, operands })
}

impl Step for Replace {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Replace {
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let place = machine.address(thread, self.space, self.operands.first().ok_or_else(missing)?)?;
        let value = machine.number(thread, &self.operands, self.operands.len() - 1)?;
        // A field with several numbers takes the one of a dimension.
        let which = if self.operands.len() > 2 { machine.number(thread, &self.operands, 1)? as usize } else { 0 };
        let none = || {
            wrong(format!("tensormap.replace.{}: the map has no place {which}, or {value} is not possible", self.word))
        };
        let new = given(machine, place, |map| map.replaced(self.field, which, value))?.ok_or_else(none)?;
        machine.watch_one(thread, place, BYTES, How::WRITE)?;
        machine.write(place, &new)
    }
}

impl Together for Publish {
    /// All threads of the warp copy the same 128 bytes together.
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let thread = *all.first().ok_or_else(missing)?;
        let operand = |at: usize| self.operands.get(at).ok_or_else(missing);
        let to = machine.address(thread, self.into, operand(0)?)?;
        let from = machine.address(thread, self.of, operand(1)?)?;
        aligned(to, BYTES)?;
        aligned(from, BYTES)?;
        machine.watch_one(thread, from, BYTES, How::READ)?;
        machine.watch_one(thread, to, BYTES, How::WRITE)?;
        let content = machine.read(from, BYTES)?;
        machine.write(to, &content)?;
        machine.watch_fence_of(all, Fence::Maps);
        Ok(())
    }
}
