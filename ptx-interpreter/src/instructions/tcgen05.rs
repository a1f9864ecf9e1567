//! `tcgen05`: waits, fences, commits, and which blocks an instruction is for.

use ptx_intrinsics::mbarrier::mbarrier_arrive;

use super::mbarrier::{Takes, on_barrier};
use super::tcgen05_pair::in_pair;
use super::tcgen05_shape::Sharing;
use super::together::{Together, collective};
use super::{tcgen05_alloc, tcgen05_mma, tcgen05_move};
use crate::machine::group::{Group, Thread};
use crate::machine::stop::{Result, Why, missing, stop};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::memory::spaces::PIECE;
use crate::memory::tensor::{Place, Tensor};
use crate::ptx::operand::{Operand, Space};

/// Whether stores are waited for, and not loads.
struct Wait(bool);

/// Whether it stands before the synchronization of threads.
struct Fence(bool);

struct Commit {
    barrier: Operand,
    space: Space,
    /// The blocks of the cluster whose barriers are told.
    blocks: Option<Operand>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let all = Operand::Number(u32::MAX.into());
    let space = words.iter().find_map(|word| Space::parse(word)).unwrap_or(Space::Generic);
    match words[1..] {
        ["fence::before_thread_sync"] => Some(Box::new(Fence(true))),
        ["fence::after_thread_sync"] => Some(Box::new(Fence(false))),
        ["wait::ld", "sync", "aligned"] => collective(all, Wait(false)),
        ["wait::st", "sync", "aligned"] => collective(all, Wait(true)),
        ["alloc" | "dealloc" | "relinquish_alloc_permit", ..] => tcgen05_alloc::decode(&words[1..], operands),
        ["commit", group, "mbarrier::arrive::one", ref rest @ ..] => {
            let known = ["shared::cluster", "multicast::cluster", "b64"];
            if in_pair(group).is_none() || !rest.iter().all(|word| known.contains(word)) {
                return None;
            }
            let mut operands = operands.into_iter();
            Some(Box::new(Commit { barrier: operands.next()?, space, blocks: operands.next() }))
        }
        ["mma", "ws", "cta_group::1", ref rest @ ..] => tcgen05_mma::decode(rest, Sharing::Weights, operands),
        ["mma", group, ref rest @ ..] => {
            let sharing = if in_pair(group)? { Sharing::Pair } else { Sharing::One };
            tcgen05_mma::decode(rest, sharing, operands)
        }
        ["ld" | "st" | "cp", ..] => tcgen05_move::decode(&words[1..], operands),
        _ => None,
    }
}

impl Machine<'_> {
    /// The tensor memory of a block.
    pub(crate) fn tensor_of(&mut self, block: usize) -> Result<&mut Tensor> {
        Ok(self.shared_of(block)?.tensor.get_or_insert_default())
    }

    /// The place that an operand in brackets means.
    pub(crate) fn place_in_tensor(&self, thread: Thread, operand: &Operand) -> Result<Place> {
        let Operand::Address(base, offset, _) = operand else { return Err(missing()) };
        Ok(Place::of((self.get(thread, base)? as u32).wrapping_add(*offset as u32)))
    }

    /// These columns have to be allocated.
    pub(crate) fn has_columns(&mut self, block: usize, place: Place, columns: usize) -> Result<()> {
        if self.tensor_of(block)?.has(place, columns) {
            return Ok(());
        }
        let Place { lane, column } = place;
        stop(
            Why::Astray,
            format!("no allocation of tensor memory has {columns} columns from column {column} on in lane {lane}"),
        )
    }
}

impl Together for Wait {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        machine.watch_tensor_wait(all, self.0);
        Ok(())
    }
}

impl Step for Fence {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.watch_tensor_fence(group, self.0);
        Ok(())
    }
}

impl Step for Commit {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Commit {
    /// The barrier that the operand means. Of a generic address a GPU takes the low half alone, so an offset works there.
    fn own(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<u64> {
        let address = machine.address(thread, self.space, &self.barrier)?;
        if self.space != Space::Generic || address >= PIECE {
            return Ok(address);
        }
        machine.watch_offset_of_barrier(thread, address);
        machine.address(thread, Space::Cluster, &self.barrier)
    }

    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let own = self.own(machine, thread)?;
        aligned(own, 8)?;
        let bars = match &self.blocks {
            None => vec![own],
            Some(blocks) => {
                let mask = machine.get(thread, blocks)?;
                let ranks = (0..16).filter(|rank| mask >> rank & 1 == 1);
                ranks.map(|rank| machine.in_block(own, rank)).collect::<Result<_>>()?
            }
        };
        let done = machine.copies_of.entry(machine.id(thread)).or_default().tensor;
        for bar in bars {
            machine.there(bar, 8, true)?;
            let before = machine.watch_commit(thread, bar);
            machine.copy_later(Box::new(move |machine| {
                // A barrier that nobody waits for any more.
                if machine.has_ended(bar) {
                    return Ok(());
                }
                machine.watch_tensor_done(thread, bar, &before, done);
                // SAFETY: the barrier is a word of the interpreter's own.
                on_barrier(machine, bar, Takes::ARRIVAL, |bar| unsafe { mbarrier_arrive(bar) }).map(drop)
            }));
        }
        Ok(())
    }
}
