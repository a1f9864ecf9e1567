//! `tcgen05.alloc` and `tcgen05.dealloc`: columns of tensor memory. A pair of blocks allocates the same columns in both, with one
//! warp of each.

use super::tcgen05_pair::in_pair;
use super::together::{Together, agreed, collective};
use crate::machine::group::Thread;
use crate::machine::stop::{Result, Why, stop, wrong};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::memory::tensor::{Asked, COLUMNS, Owned, Place, first_free, is_allocation};
use crate::ptx::operand::{Operand, Space};

struct Allocate {
    in_pair: bool,
    to: Operand,
    space: Space,
    columns: Operand,
}

struct Free {
    in_pair: bool,
    address: Operand,
    columns: Operand,
}

struct Relinquish;

pub(super) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let all = Operand::Number(u32::MAX.into());
    let space = words.iter().find_map(|word| Space::parse(word)).unwrap_or(Space::Generic);
    match *words {
        ["alloc", group, "sync", "aligned", ..] => {
            let [to, columns] = operands.try_into().ok()?;
            collective(all, Allocate { in_pair: in_pair(group)?, to, space, columns })
        }
        ["dealloc", group, "sync", "aligned", "b32"] => {
            let [address, columns] = operands.try_into().ok()?;
            collective(all, Free { in_pair: in_pair(group)?, address, columns })
        }
        ["relinquish_alloc_permit", group, "sync", "aligned"] => {
            in_pair(group).and_then(|_| collective(all, Relinquish))
        }
        _ => None,
    }
}

impl Machine<'_> {
    /// The first column that a pair of blocks gets, once a warp of each has asked for it and enough are free in both.
    fn allocate_in_pair(&mut self, thread: Thread, own: Owned) -> Result<Option<usize>> {
        let (block, blocks) = (self.block_of(thread), self.blocks_of_tensor(thread, true)?);
        let peer = blocks[0] + blocks[1] - block;
        let asked = &mut self.tensor_of(block)?.asked;
        let is_own = asked.is_some_and(|asked| asked.warp == thread.warp);
        if let Some(first) = asked.filter(|_| is_own).and_then(|asked| asked.first) {
            *asked = None;
            // Other warps of the block may ask now.
            self.warp_mut(thread.warp).is_blocked = false;
            self.wake_blocked(block);
            return Ok(Some(first));
        }
        if asked.is_some() && !is_own {
            return Ok(None);
        }
        let asks_again = asked.is_some();
        *asked = Some(Asked { warp: thread.warp, own, first: None });
        if !asks_again {
            self.watch_allocation_in_pair(thread.warp, peer);
        }
        if self.blocks[peer].is_none() {
            return Ok(None);
        }
        let Some(other) = self.tensor_of(peer)?.asked.filter(|other| other.first.is_none()) else { return Ok(None) };
        if other.own.columns != own.columns {
            let (one, two) = (own.columns, other.own.columns);
            return Err(wrong(format!("the blocks of a pair allocate {one} and {two} columns")));
        }
        let all = [block, peer].map(|block| self.blocks[block].as_ref().and_then(|block| block.tensor.as_deref()));
        let all: Vec<_> = all.into_iter().flatten().collect();
        let Some(first) = first_free(&all, own.columns) else { return Ok(None) };
        for (block, own) in [(block, own), (peer, other.own)] {
            self.tensor_of(block)?.owned.insert(first, own);
        }
        self.tensor_of(block)?.asked = None;
        self.tensor_of(peer)?.asked = Some(Asked { first: Some(first), ..other });
        self.progress += 1;
        self.wake_blocked(peer);
        self.watch_columns_of_pair([block, peer], first..first + own.columns);
        Ok(Some(first))
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
        let own = Owned { columns, in_pair: self.in_pair, by };
        let tensor = machine.tensor_of(block)?;
        if tensor.relinquished {
            return Err(wrong("the block has given up its right to allocate tensor memory"));
        }
        let first = if self.in_pair {
            machine.allocate_in_pair(all[0], own)?
        } else {
            let first = first_free(&[tensor], columns);
            tensor.owned.extend(first.map(|first| (first, own)));
            first
        };
        machine.warp_mut(all[0].warp).is_blocked = first.is_none();
        let Some(first) = first else { return Ok(()) };
        machine.watch_one(all[0], to, 4, crate::ptx::access::How::WRITE)?;
        machine.write_number(to, 4, first as u64)
    }
}

impl Together for Free {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let columns = columns(machine, all, &self.columns)?;
        let Place { column, .. } = Place::of(agreed(machine, all, &self.address)?);
        let blocks = machine.blocks_of_tensor(all[0], self.in_pair)?;
        let owned = &mut machine.tensor_of(machine.block_of(all[0]))?.owned;
        let Some(own) = owned.get(&column).filter(|own| own.columns == columns) else {
            let text = format!("no allocation of tensor memory has {columns} columns and begins at column {column}");
            return stop(Why::Astray, text);
        };
        if own.in_pair != self.in_pair {
            return Err(wrong("columns are freed by another .cta_group than they are allocated by"));
        }
        owned.remove(&column);
        machine.progress += 1;
        for block in &blocks {
            machine.wake_blocked(*block);
        }
        machine.watch_free(all, &blocks, column..column + columns);
        Ok(())
    }
}

impl Together for Relinquish {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        machine.tensor_of(machine.block_of(all[0]))?.relinquished = true;
        Ok(())
    }
}
