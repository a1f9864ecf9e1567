//! `alloca`, `stacksave` and `stackrestore`: local memory whose size a thread chooses. Here a stack grows to higher addresses.

use crate::alu::Type;
use crate::machine::group::Group;
use crate::machine::stop::{Result, wrong};
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;

/// How a piece is aligned at least.
const ALIGN: usize = 8;
/// The greatest alignment that PTX allows.
const MOST: usize = 1 << 23;

struct Allocate {
    to: Operand,
    bytes: Operand,
    width: u32,
    align: usize,
}

struct Save(Operand);

struct Restore(Operand);

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let &[name, ty] = words else { return None };
    let width = Type::parse(ty).filter(|ty| ty.is("u32 u64"))?.bits;
    let mut operands = operands.into_iter();
    let first = operands.next()?;
    let step: Box<dyn Step> = match name {
        "alloca" => {
            let bytes = operands.next()?;
            let align = match operands.next() {
                None => ALIGN,
                Some(Operand::Number(align)) => usize::try_from(align).ok()?,
                Some(_) => return None,
            };
            let align = Some(align).filter(|align| align.is_power_of_two() && *align <= MOST)?.max(ALIGN);
            Box::new(Allocate { to: first, bytes, width, align })
        }
        "stacksave" => Box::new(Save(first)),
        _ => Box::new(Restore(first)),
    };
    operands.next().is_none().then_some(step)
}

impl Step for Allocate {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            let bytes = machine.get(thread, &self.bytes)? as u64 & (u64::MAX >> (64 - self.width));
            let at = machine.allocate_locally(thread, bytes, self.align)?;
            machine.set(thread, &self.to, at.into())?;
        }
        Ok(())
    }
}

impl Step for Save {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            let top = machine.warp(thread.warp).local[thread.lane].top() as u64;
            machine.set(thread, &self.0, top.into())?;
        }
        Ok(())
    }
}

impl Step for Restore {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        for thread in group.threads() {
            let top = machine.get(thread, &self.0)? as u64;
            let warp = machine.warp_mut(thread.warp);
            let frame = &warp.frames[thread.frame];
            let own = frame.base + frame.code.frame as u64..=warp.local[thread.lane].top() as u64;
            if !own.contains(&top) {
                return Err(wrong("stackrestore is given what no stacksave of its function has given").by(thread.lane));
            }
            warp.local[thread.lane].shrink(top as usize);
        }
        Ok(())
    }
}
