//! `st.async` and `red.async`: done later. Then a barrier counts the bytes, if there is one.

use ptx_intrinsics::mbarrier::mbarrier_complete_tx;

use super::mbarrier::{Takes, on_barrier};
use crate::alu::Type;
use crate::machine::group::{Group, Thread};
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::memory::change::Change;
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Space};

struct Later {
    space: Space,
    to: Operand,
    /// The lanes of the value, and the bytes of each.
    value: Vec<Operand>,
    bytes: usize,
    barrier: Option<Operand>,
    /// Of a reduction.
    change: Option<Change>,
    how: How,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ty = Type::parse(words.last()?)?;
    let reduces = words[0] == "red";
    let change = if reduces { Some(Change::of(words)?) } else { None };
    let mut operands = operands.into_iter();
    let later = Later {
        space: Space::of(words),
        to: operands.next()?,
        value: operands.next()?.lanes().into_iter().map(|lane| lane.of_type(ty)).collect(),
        bytes: ty.bits as usize / 8,
        barrier: operands.next(),
        change,
        how: if reduces { How::atomic(words) } else { How::store(words) },
    };
    Some(Box::new(later))
}

impl Step for Later {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Later {
    fn one<'a>(&'a self, machine: &mut Machine<'a>, thread: Thread) -> Result<()> {
        let to = machine.address(thread, self.space, &self.to)?;
        let mut value = Vec::with_capacity(16);
        for lane in &self.value {
            value.extend_from_slice(&machine.get(thread, lane)?.to_le_bytes()[..self.bytes]);
        }
        aligned(to, value.len())?;
        machine.there(to, value.len(), true)?;
        let bar = match &self.barrier {
            Some(bar) => Some(machine.address(thread, self.space, bar)?),
            None => None,
        };
        match bar {
            Some(bar) => {
                aligned(bar, 8)?;
                machine.watch_later(thread, (to, value.len()), self.how, bar, false);
            }
            None => machine.watch_one(thread, to, value.len(), self.how)?,
        }
        machine.copy_later(Box::new(move |machine| {
            self.happen(machine, to, &value)?;
            let Some(bar) = bar else { return Ok(()) };
            // SAFETY: the barrier is a word of the interpreter's own.
            on_barrier(machine, bar, Takes::come(value.len()), |bar| unsafe {
                mbarrier_complete_tx(bar, value.len() as u32)
            })
        }));
        Ok(())
    }

    fn happen(&self, machine: &mut Machine<'_>, to: u64, value: &[u8]) -> Result<()> {
        match self.change {
            Some(change) => machine.change(change, to, value),
            None => machine.write(to, value),
        }
    }
}
