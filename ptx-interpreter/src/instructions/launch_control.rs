//! `clusterlaunchcontrol`: a cluster that has not begun is cancelled, and its number is returned. A response is laid out as on a GPU:
//! x in 32 bits, y and z in 16, and whether a launch was cancelled in the 64th bit.

use ptx_intrinsics::mbarrier::mbarrier_complete_tx;

use super::mbarrier::{Takes, on_barrier};
use crate::machine::group::{Group, Thread};
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Space};

const CANCELLED: u128 = 1 << 64;

struct TryCancel {
    space: Space,
    response: Operand,
    bar: Operand,
    /// Whether each block of the cluster gets a response.
    to_all: bool,
    how: How,
}

/// What is asked of a response.
enum Query {
    IsCancelled(Operand),
    /// The numbers of the first block, from an axis on.
    FirstBlock(usize, Vec<Operand>),
}

struct Asked(Query, Operand);

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    if words.get(1) == Some(&"try_cancel") {
        let [response, bar] = operands.try_into().ok()?;
        let (space, to_all) = (Space::of(words), words.contains(&"multicast::cluster::all"));
        return Some(Box::new(TryCancel { space, response, bar, to_all, how: How::store(words) }));
    }
    let [to, response] = operands.try_into().ok()?;
    let query = match *words.get(2)? {
        "is_canceled" => Query::IsCancelled(to),
        "get_first_ctaid" => Query::FirstBlock(0, to.lanes()),
        axis => Query::FirstBlock("xyz".find(axis.strip_prefix("get_first_ctaid::")?)?, vec![to]),
    };
    Some(Box::new(Asked(query, response)))
}

impl Step for TryCancel {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl TryCancel {
    fn one<'a>(&'a self, machine: &mut Machine<'a>, thread: Thread) -> Result<()> {
        let own = [&self.response, &self.bar].map(|operand| machine.address(thread, self.space, operand));
        let [response, bar] = own;
        let (response, bar) = (response?, bar?);
        aligned(response, 16)?;
        aligned(bar, 8)?;
        let told: Vec<(u64, u64)> = match self.to_all {
            false => vec![(response, bar)],
            true => (0..machine.cluster as u64)
                .map(|rank| Ok((machine.in_block(response, rank)?, machine.in_block(bar, rank)?)))
                .collect::<Result<_>>()?,
        };
        machine.watch_request(thread);
        let value = machine.cancel_launch()?.map_or(0, of_block).to_le_bytes();
        for (response, bar) in told {
            machine.there(response, 16, true)?;
            machine.watch_later(thread, (response, 16), self.how, bar, true);
            machine.copy_later(Box::new(move |machine| {
                machine.write(response, &value)?;
                // SAFETY: the barrier is a word of the interpreter's own.
                on_barrier(machine, bar, Takes::come(16), |bar| unsafe { mbarrier_complete_tx(bar, 16) })
            }));
        }
        Ok(())
    }
}

fn of_block([x, y, z]: [u32; 3]) -> u128 {
    CANCELLED | u128::from(z) << 48 | u128::from(y) << 32 | u128::from(x)
}

impl Step for Asked {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let Asked(query, response) = self;
        for thread in group.threads() {
            let response = machine.get(thread, response)?;
            if response & CANCELLED == 0 {
                machine.watch_refusal(thread, matches!(query, Query::FirstBlock(..)));
            }
            match query {
                Query::IsCancelled(to) => machine.set(thread, to, u128::from(response & CANCELLED != 0))?,
                Query::FirstBlock(first, to) => {
                    let numbers = [response as u32, (response >> 32) as u16 as u32, (response >> 48) as u16 as u32, 0];
                    for (to, number) in to.iter().zip(&numbers[*first..]) {
                        machine.set(thread, to, u128::from(*number))?;
                    }
                }
            }
        }
        Ok(())
    }
}
