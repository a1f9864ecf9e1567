//! `tcgen05`: tensor memory is allocated and freed, waits, fences, and commits. What one block does alone, `.cta_group::1`.

use ptx_intrinsics::mbarrier::mbarrier_arrive;

use super::mbarrier::{Takes, on_barrier};
use super::together::{Together, agreed, collective};
use super::{tcgen05_mma, tcgen05_move};
use crate::group::{Group, Thread};
use crate::lanes::lanes_of;
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::operand::{Operand, Space};
use crate::stop::{Result, Why, missing, stop, wrong};
use crate::tensor::{COLUMNS, Owned, Place, Tensor, is_allocation};

struct Allocate {
    to: Operand,
    space: Space,
    columns: Operand,
}

struct Free {
    address: Operand,
    columns: Operand,
}

struct Relinquish;

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
        ["alloc", "cta_group::1", "sync", "aligned", ..] => {
            let [to, columns] = operands.try_into().ok()?;
            collective(all, Allocate { to, space, columns })
        }
        ["dealloc", "cta_group::1", "sync", "aligned", "b32"] => {
            let [address, columns] = operands.try_into().ok()?;
            collective(all, Free { address, columns })
        }
        ["relinquish_alloc_permit", "cta_group::1", "sync", "aligned"] => collective(all, Relinquish),
        ["commit", "cta_group::1", "mbarrier::arrive::one", ref rest @ ..] => {
            let known = ["shared::cluster", "multicast::cluster", "b64"];
            if !rest.iter().all(|word| known.contains(word)) {
                return None;
            }
            let mut operands = operands.into_iter();
            Some(Box::new(Commit { barrier: operands.next()?, space, blocks: operands.next() }))
        }
        ["mma", "cta_group::1", ref rest @ ..] => tcgen05_mma::decode(rest, operands),
        ["ld" | "st" | "cp", ..] => tcgen05_move::decode(&words[1..], operands),
        _ => None,
    }
}

impl Machine<'_> {
    /// The tensor memory of a block.
    pub(crate) fn tensor_of(&mut self, block: usize) -> Result<&mut Tensor> {
        Ok(self.shared_of(block)?.tensor.get_or_insert_default())
    }

    /// Warps that wait for columns look again whether enough are free.
    fn wake_allocations(&mut self, block: usize) {
        let own = block * self.warps_of_block..(block + 1) * self.warps_of_block;
        for warp in self.warps[own].iter_mut().flatten().filter(|warp| warp.tensor.is_blocked) {
            lanes_of(warp.waiting).for_each(|lane| warp.at[lane].1 -= 1);
            warp.running |= warp.waiting;
            warp.waiting = 0;
        }
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

/// The columns that are allocated or freed.
fn columns(machine: &Machine<'_>, all: &[Thread], operand: &Operand) -> Result<usize> {
    let columns = agreed(machine, all, operand)? as usize;
    if is_allocation(columns) {
        return Ok(columns);
    }
    Err(wrong(format!("{columns} columns are no power of two from 32 to {COLUMNS}")))
}

impl Together for Allocate {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let columns = columns(machine, all, &self.columns)?;
        let (block, by) = (machine.block_of(all[0]), (machine.actor(all[0]), machine.site));
        let to = machine.address(all[0], self.space, &self.to)?;
        aligned(to, 4)?;
        let tensor = machine.tensor_of(block)?;
        if tensor.relinquished {
            return Err(wrong("the block has given up its right to allocate tensor memory"));
        }
        let first = tensor.free(columns);
        machine.warp_mut(all[0].warp).tensor.is_blocked = first.is_none();
        let Some(first) = first else { return Ok(()) };
        machine.tensor_of(block)?.owned.insert(first, Owned { columns, by });
        machine.watch_one(all[0], to, 4, crate::access::How::WRITE)?;
        machine.write_number(to, 4, first as u64)
    }
}

impl Together for Free {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let columns = columns(machine, all, &self.columns)?;
        let Place { column, .. } = Place::of(agreed(machine, all, &self.address)?);
        let owned = &mut machine.tensor_of(machine.block_of(all[0]))?.owned;
        if owned.get(&column).is_none_or(|own| own.columns != columns) {
            let text = format!("no allocation of tensor memory has {columns} columns and begins at column {column}");
            return stop(Why::Astray, text);
        }
        owned.remove(&column);
        machine.progress += 1;
        machine.wake_allocations(machine.block_of(all[0]));
        machine.watch_free(all[0], column, columns);
        Ok(())
    }
}

impl Together for Relinquish {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        machine.tensor_of(machine.block_of(all[0]))?.relinquished = true;
        Ok(())
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
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let own = machine.address(thread, self.space, &self.barrier)?;
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
            machine.host(bar, 8, true)?;
            let before = machine.watch_commit(thread, bar);
            machine.copy_later(Box::new(move |machine| {
                machine.watch_tensor_done(thread, bar, &before, done);
                // SAFETY: the barrier is a word of the interpreter's own.
                on_barrier(machine, bar, Takes::ARRIVAL, |bar| unsafe { mbarrier_arrive(bar) }).map(drop)
            }));
        }
        Ok(())
    }
}
