//! What the machine tells the checks of tensor memory.

use std::ops::Range;

use crate::check::{Actor, Event, Known};
use crate::machine::Machine;
use crate::machine::group::{Group, Thread};
use crate::memory::spaces::tensor_of;
use crate::memory::tensor::{LANES, Loading, Place, WORD};
use crate::memory::units::Units;
use crate::ptx::access::{Engine, How};
use crate::ptx::text::{guarded, names, opcode, written};

/// Columns of a lane that are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) block: usize,
    pub(crate) place: Place,
    pub(crate) columns: usize,
    pub(crate) writes: bool,
}

impl Run {
    fn begin(&self, cluster: usize) -> u64 {
        tensor_of(self.block, cluster) + self.place.byte() as u64
    }
}

impl Machine<'_> {
    pub(crate) fn watch_tensor_fence(&mut self, group: Group, before: bool) {
        self.tell(|checks, machine| {
            for actor in group.threads().map(|thread| machine.actor(thread)) {
                if before { checks.before_thread_sync(actor) } else { checks.after_thread_sync(actor) }
            }
        });
    }

    /// A thread begins a product or a copy that uses these bytes of shared memory and of tensor memory.
    pub(crate) fn watch_product(&mut self, thread: Thread, units: &Units, runs: &[Run]) {
        let begun = self.copies_of.entry(self.id(thread)).or_default();
        begun.tensor += 1;
        let (number, actor, site) = (begun.tensor, self.actor(thread), self.site);
        let cluster = self.cluster;
        self.tell(|checks, _| {
            let engine = Some((checks.begins_in_tensor(actor, number), number, true));
            let mut addresses = units.keys().copied().peekable();
            while let Some(address) = addresses.next() {
                let mut bytes = 16;
                while addresses.next_if_eq(&(address + bytes)).is_some() {
                    bytes += 16;
                }
                checks.access(Event { actor, site, address, bytes: bytes as usize, how: How::READ, engine });
            }
            for run in runs {
                let how = if run.writes { How::WRITE } else { How::READ };
                let (address, bytes) = (run.begin(cluster), run.columns * WORD);
                checks.access(Event { actor, site, address, bytes, how, engine });
            }
        });
    }

    /// A warp begins to load or store: for each of these threads its columns.
    pub(crate) fn watch_move(&mut self, all: &[Thread], runs: &[(Thread, Run)], stores: bool) {
        let (warp, site, registers) = (all[0].warp, self.site, written(&self.program.sites[self.site as usize].text));
        let own = &mut self.warp_mut(warp).tensor;
        let count = if stores { &mut own.stores } else { &mut own.loads };
        *count += 1;
        let number = *count;
        if self.checks.is_none() {
            return;
        }
        if !stores {
            let mask = all.iter().fold(0, |mask, thread| mask | 1 << thread.lane);
            let loading = Loading { frame: all[0].frame, mask, site, registers };
            self.warp_mut(warp).tensor.loading.push(loading);
        }
        let (kind, how) = if stores { (Engine::TensorStore, How::WRITE) } else { (Engine::TensorLoad, How::READ) };
        self.tell(|checks, machine| {
            let first = machine.actor(Thread { warp, frame: 0, lane: 0 });
            let (engine, epoch) = checks.begin_copy(first, kind, number);
            if machine.cluster > 1 {
                let columns = runs.iter().map(|(_, run)| run.place.column..run.place.column + run.columns);
                let all = columns.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end));
                all.into_iter().for_each(|columns| checks.moves_in_pair(first, site, columns));
            }
            for (thread, run) in runs {
                let (address, bytes) = (run.begin(machine.cluster), run.columns * WORD);
                let engine = Some((engine, epoch, false));
                checks.access(Event { actor: machine.actor(*thread), site, address, bytes, how, engine });
            }
        });
    }

    /// A warp names lanes that are not its own.
    pub(crate) fn watch_other_lanes(&mut self, thread: Thread, lane: usize, own: &std::ops::Range<usize>) {
        let (site, number) = (self.site, thread.warp % self.warps_of_block);
        let text =
            format!("warp {number} reaches lanes {} to {}, and not those from lane {lane} on", own.start, own.end - 1);
        self.tell(|checks, machine| checks.names_other_lanes(machine.actor(thread), site, text));
    }

    /// A thread names the barrier of a commit by an offset, where a generic address belongs.
    pub(crate) fn watch_offset_of_barrier(&mut self, thread: Thread, offset: u64) {
        let site = self.site;
        self.tell(|checks, machine| checks.commits_to_offset(machine.actor(thread), site, offset));
    }

    /// A warp has waited for its loads or stores.
    pub(crate) fn watch_tensor_wait(&mut self, all: &[Thread], stores: bool) {
        let warp = all[0].warp;
        let own = &mut self.warp_mut(warp).tensor;
        let (kind, done) = if stores { (Engine::TensorStore, own.stores) } else { (Engine::TensorLoad, own.loads) };
        if !stores {
            own.loading.clear();
        }
        self.tell(|checks, machine| {
            let actors: Vec<Actor> = all.iter().map(|thread| machine.actor(*thread)).collect();
            let first = machine.actor(Thread { warp, frame: 0, lane: 0 });
            checks.waited_in_tensor(&actors, first, kind, done);
        });
    }

    /// Whether an instruction uses a register before the wait for the load that fills it. A copy of it is such a register too.
    pub(super) fn watch_loading(&mut self, group: Group) {
        if self.warp(group.warp).tensor.loading.is_empty() {
            return;
        }
        let site = self.site;
        let text = self.program.sites[site as usize].text.as_str();
        let (opcode, _) = opcode(guarded(text).1);
        let mut early = Vec::new();
        for load in &mut self.warp_mut(group.warp).tensor.loading {
            let is_own = load.frame == group.frame && load.mask & group.mask != 0 && load.site != site;
            if !is_own || !names(text, &load.registers) {
                continue;
            }
            if opcode.starts_with("mov.") {
                load.registers.extend(written(text));
            } else {
                early.push((load.site, load.mask & group.mask));
            }
        }
        self.tell(|checks, machine| {
            for (load, mask) in early {
                let actor = machine.actor(group.thread(mask.trailing_zeros() as usize));
                checks.too_early((actor, load), (actor, site));
            }
        });
    }

    /// A barrier is told that a thread's products and copies are done, up to one.
    pub(crate) fn watch_tensor_done(&mut self, thread: Thread, bar: u64, before: &Known, done: u32) {
        self.tell(|checks, machine| checks.tensor_done(machine.actor(thread), bar, before, done));
    }

    /// A thread will let a barrier know of its products: it has to be one. Gives what came before them.
    pub(crate) fn watch_commit(&mut self, thread: Thread, bar: u64) -> Known {
        let (actor, site) = (self.actor(thread), self.site);
        let done = self.copies_of.entry(self.id(thread)).or_default().tensor;
        let mut before = Known::default();
        self.tell(|checks, _| {
            if checks.is_barrier(bar) {
                // The arrival comes with the end of the products.
                let engine = Some((checks.products_of(actor), done, false));
                checks.access(Event { actor, site, address: bar, bytes: 8, how: How::BARRIER, engine });
            } else {
                checks.no_barrier(actor, site, bar);
            }
            before = checks.before_products(actor);
        });
        before
    }

    /// A warp asks for columns of a pair of blocks, of which the other one has to have begun.
    pub(crate) fn watch_allocation_in_pair(&mut self, warp: usize, peer: usize) {
        let site = self.site;
        self.tell(|checks, machine| {
            let first = machine.actor(Thread { warp, frame: 0, lane: 0 });
            checks.allocates_in_pair(first, site, peer as u32);
        });
    }

    /// A pair of blocks has got columns.
    pub(crate) fn watch_columns_of_pair(&mut self, blocks: [usize; 2], columns: Range<usize>) {
        self.tell(|checks, _| checks.allocated_in_pair(blocks.map(|block| block as u32), &columns));
    }

    /// A warp frees columns of these blocks.
    pub(crate) fn watch_free(&mut self, all: &[Thread], blocks: &[usize], columns: Range<usize>) {
        let (block, site) = (self.block_of(all[0]), self.site);
        let begin = tensor_of(block, self.cluster) + Place { lane: 0, column: columns.start }.byte() as u64;
        self.tell(|checks, machine| {
            let warp: Vec<Actor> = all.iter().map(|thread| machine.actor(*thread)).collect();
            checks.free_columns(warp[0], site, begin, columns.len());
            for peer in blocks.iter().filter(|peer| **peer != block) {
                checks.frees_in_pair(&warp, site, *peer as u32, columns.clone());
            }
        });
    }

    /// All threads of a block have ended.
    pub(crate) fn watch_columns_left(&mut self, block: usize) {
        let tensor = self.blocks[block].as_ref().and_then(|block| block.tensor.as_ref());
        let left: Vec<_> = tensor.iter().flat_map(|tensor| tensor.owned.values().copied()).collect();
        self.tell(|checks, _| left.iter().for_each(|own| checks.left_columns(own.by.0, own.by.1, own.columns)));
    }
}

/// The lanes that a warp reaches.
pub(crate) fn lanes_of_warp(number: usize) -> std::ops::Range<usize> {
    let first = number % 4 * 32;
    first..(first + 32).min(LANES)
}
