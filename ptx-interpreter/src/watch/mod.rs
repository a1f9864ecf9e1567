//! What the machine tells the checks.

pub(crate) mod compared;
pub(crate) mod exchanged;
pub(crate) mod group;
mod kept;
mod reading;
pub(crate) mod tensor;
pub(crate) mod texture;
mod undefined;
mod unset;

use std::collections::HashMap;
use std::ops::Range;

use ptx_intrinsics::on_cpu::matrix::Meaningless;

use crate::check::{Actor, Checks, Event};
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{Lanes, each, lanes_of};
use crate::machine::meeting::Reduction;
use crate::machine::stop::Result;
use crate::machine::{Frame, Machine};
use crate::memory::begun::Copy;
use crate::memory::descriptor::Matrix;
use crate::memory::spaces::{LOCAL, MODULE, Owner, is_shared, owner, shared_of};
use crate::ptx::access::{Arrival, Engine, Fence, How};
use crate::ptx::operand::Operand;

impl Machine<'_> {
    pub(crate) fn remembers_values(&self) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.remembers_values())
    }

    pub(crate) fn actor(&self, thread: Thread) -> Actor {
        Actor { block: self.block_of(thread) as u32, number: self.number_of(thread) }
    }

    /// Lets the checks do something, if there are any.
    pub(crate) fn tell(&mut self, then: impl FnOnce(&mut Checks, &Self)) {
        if let Some(mut checks) = self.checks.take() {
            then(&mut checks, self);
            self.checks = Some(checks);
        }
    }

    fn for_each(&mut self, group: Group, mut then: impl FnMut(&mut Checks, Actor)) {
        self.tell(|checks, machine| group.threads().for_each(|thread| then(checks, machine.actor(thread))));
    }

    pub(crate) fn watch_one(&mut self, thread: Thread, address: u64, bytes: usize, how: How) -> Result<()> {
        self.watch_rewrite(thread, address, bytes, how, &|_| false)
    }

    /// The same, of one that may write what is there, or what others of its warp write.
    pub(crate) fn watch_rewrite(
        &mut self,
        thread: Thread,
        address: u64,
        bytes: usize,
        how: How,
        rewrites: &dyn Fn(u32) -> bool,
    ) -> Result<()> {
        if self.checks.is_none() {
            return Ok(());
        }
        // What is nowhere ends the launch, and says so itself.
        let there = self.there(address, bytes, how.writes).map_err(|stop| stop.by(thread.lane));
        there?;
        let (actor, site) = (self.actor(thread), self.site);
        let event = Event { actor, site, address, bytes, how, engine: None };
        if how.writes {
            self.checks.iter_mut().for_each(|checks| checks.has_values_now(address, bytes));
        }
        match owner(address, self.cluster) {
            (Owner::Local(of), at) => {
                if how.writes {
                    self.local_of(of).into_iter().for_each(|local| local.write(at as usize, bytes));
                }
                if of != self.block_of(thread) * self.threads + self.number_of(thread) {
                    self.tell(|checks, _| checks.foreign(event, of, at));
                }
                return Ok(());
            }
            (Owner::Parameters, _) => return Ok(()),
            _ => {}
        }
        if self.remembers_values() {
            self.comes_after_loads_of(thread)?;
            let now = if bytes <= 8 { Some(self.read_number(address, bytes)?) } else { None };
            let way = self.weak.way.take();
            self.tell(|checks, _| checks.remember(event, now, way));
        }
        self.tell(|checks, _| checks.access_rewriting(event, rewrites));
        Ok(())
    }

    /// Each thread of a group loads `bytes` bytes, of its local memory those that it has written.
    #[inline]
    pub(crate) fn watch_local_load(&mut self, group: Group, addresses: &Lanes, bytes: usize) {
        if self.checks.is_none() {
            return;
        }
        let mut are_local = false;
        each(group.mask, |lane| are_local |= (LOCAL..MODULE).contains(&addresses[lane]));
        if !are_local {
            return;
        }
        let mut is_unwritten = |lane: usize| match owner(addresses[lane], self.cluster) {
            (Owner::Local(of), at) => self.local_of(of).is_some_and(|local| !local.are_written(at as usize, bytes)),
            _ => false,
        };
        let brings_unwritten = lanes_of(group.mask).any(&mut is_unwritten);
        self.checks.iter_mut().for_each(|checks| checks.brings_unwritten |= brings_unwritten);
    }

    /// The launch has ended. What was read and nobody had written becomes findings.
    pub(crate) fn judge_unwritten(&mut self) {
        self.tell(|checks, _| checks.judge_unwritten());
    }

    pub(crate) fn watch_fence(&mut self, group: Group, fence: Fence) {
        self.for_each(group, |checks, actor| checks.fence(actor, fence));
    }

    /// The same, of threads that do something together.
    pub(crate) fn watch_fence_of(&mut self, all: &[Thread], fence: Fence) {
        self.tell(|checks, machine| all.iter().for_each(|thread| checks.fence(machine.actor(*thread), fence)));
    }

    pub(crate) fn watch_map_acquire(&mut self, group: Group, maps: &Lanes) {
        self.tell(|checks, machine| {
            group.threads().for_each(|thread| checks.acquire_map(machine.actor(thread), maps[thread.lane]));
        });
    }

    /// A copy uses a tensor map.
    pub(crate) fn watch_map(&mut self, thread: Thread, map: u64, bytes: usize) {
        let site = self.site;
        self.tell(|checks, machine| checks.reads_map(machine.actor(thread), site, map, bytes));
    }

    /// That copy begins, and barriers will count it.
    pub(crate) fn watch_map_read(&mut self, thread: Thread, map: u64, bars: &[u64]) {
        let site = self.site;
        self.tell(|checks, machine| checks.begins_map_read(machine.actor(thread), site, map, bars));
    }

    /// A thread commits a group of bulk copies, which has this number.
    pub(crate) fn watch_commit_of_copies(&mut self, thread: Thread, group: u32) {
        self.tell(|checks, machine| checks.commits_map_reads(machine.actor(thread), group));
    }

    pub(crate) fn watch_arrival(&mut self, group: Group, number: u32) {
        let site = self.site;
        self.for_each(group, |checks, actor| checks.arrive((actor, site), number));
    }

    pub(crate) fn watch_completion(
        &mut self,
        block: usize,
        number: u32,
        waiting: &[(Group, Option<(Operand, Reduction)>)],
    ) {
        self.watch_alignment(waiting);
        self.tell(|checks, machine| {
            let threads = waiting.iter().flat_map(|(group, _)| group.threads());
            checks.complete(block as u32, number, threads.map(|thread| machine.actor(thread)));
        });
    }

    /// `bar`, and what is `.aligned`, is one instruction for all threads of a warp.
    fn watch_alignment(&mut self, waiting: &[(Group, Option<(Operand, Reduction)>)]) {
        self.tell(|checks, machine| {
            let mut first: HashMap<usize, (Actor, u32)> = HashMap::new();
            for (group, _) in waiting {
                let thread = group.thread(group.mask.trailing_zeros() as usize);
                let warp = machine.warp(group.warp);
                let (frame, next) = warp.at[thread.lane];
                let Frame { code, sites, .. } = &warp.frames[frame as usize];
                let site = sites + code.lines[next as usize - 1].site;
                let here = (machine.actor(thread), site);
                let other = *first.entry(group.warp).or_insert(here);
                let text = &machine.program.sites[site as usize].text;
                if !checks.are_one(other.1, site) && (text.contains("bar.") || text.contains(".aligned")) {
                    checks.divergent(other, here);
                }
            }
        });
    }

    pub(crate) fn watch_cluster(&mut self, number: usize) {
        self.tell(|checks, machine| {
            let warps = machine.cluster * machine.warps_of_block;
            let own = number * warps..(number + 1) * warps;
            let waiting = own.filter_map(|warp| Some((warp, machine.warps[warp].as_ref()?.at_cluster)));
            let threads = waiting.flat_map(|(warp, mask)| Group { warp, frame: 0, mask }.threads());
            checks.complete_cluster(number as u32, threads.map(|thread| machine.actor(thread)));
        });
    }

    pub(crate) fn watch_cluster_arrival(&mut self, group: Group, releases: bool) {
        let site = self.site;
        self.for_each(group, |checks, actor| checks.arrive_at_cluster(actor, site, releases));
    }

    pub(crate) fn watch_cluster_wait(&mut self, thread: Thread) {
        self.tell(|checks, machine| checks.after_cluster(machine.actor(thread)));
    }

    pub(crate) fn watch_warp_barrier(&mut self, all: &[Thread]) {
        self.tell(|checks, machine| {
            let actors: Vec<Actor> = all.iter().map(|thread| machine.actor(*thread)).collect();
            checks.meet(&actors, machine.site);
        });
    }

    /// A copy begins: it reads and writes until it is done.
    pub(crate) fn watch_copy(&mut self, thread: Thread, copy: &Copy, engine: Engine) -> Result<()> {
        self.watch_copies(thread, std::slice::from_ref(copy), engine)
    }

    /// The same, of several pieces out of shared memory. Threads of a warp may copy the same to the same place by one instruction: it makes
    /// no difference which copy is done last.
    pub(crate) fn watch_stores(&mut self, thread: Thread, copies: &[Copy]) -> Result<()> {
        let key = (thread.warp, self.site);
        let is_change = copies.iter().any(|copy| copy.change.is_some());
        if is_change || !self.stored.entry(key).or_default().again(thread.lane, copies) {
            return self.watch_copies(thread, copies, Engine::Bulk);
        }
        let reads: Vec<Copy> = copies.iter().map(|copy| Copy { size: 0, ..copy.clone() }).collect();
        self.watch_copies(thread, &reads, Engine::Bulk)
    }

    /// The same, of any pieces.
    pub(crate) fn watch_copies(&mut self, thread: Thread, copies: &[Copy], engine: Engine) -> Result<()> {
        if self.checks.is_none() {
            return Ok(());
        }
        let id = self.id(thread);
        let begun = self.copies_of.entry(id).or_default();
        let group = 1 + if engine == Engine::Small { begun.small.committed } else { begun.bulk.committed };
        let (actor, site) = (self.actor(thread), self.site);
        self.tell(|checks, _| {
            let reader = if engine == Engine::Bulk { Engine::BulkRead } else { engine };
            let (read, read_epoch) = checks.begin_copy(actor, reader, group);
            let (write, write_epoch) = checks.begin_copy(actor, engine, group);
            let by_proxy = engine != Engine::Small;
            for copy in copies {
                let event = Event { actor, site, address: copy.from, bytes: copy.read, how: How::READ, engine: None };
                let is_kept = is_shared(copy.to) && copy.change.is_none();
                if copy.read > 0 {
                    checks.brings_to_registers = is_kept;
                    checks.access(Event { engine: Some((read, read_epoch, by_proxy)), ..event });
                    checks.brings_to_registers = false;
                }
                // Each value is changed by an atomic of the scope `.gpu`.
                let (how, bytes) = match copy.change {
                    Some(change) => (How::atomic(&[]), change.bytes),
                    None => (How::WRITE, copy.size),
                };
                let engine = Some((write, write_epoch, by_proxy));
                for at in (0..copy.size).step_by(bytes.max(1)) {
                    let event = Event { address: copy.to + at as u64, bytes, how, engine, ..event };
                    checks.has_values_now(event.address, bytes);
                    checks.remember(event, None, None);
                    checks.access(event);
                }
                if is_kept && (checks.brings_unwritten() || !checks.undefined.is_empty()) {
                    checks.copies((actor, site), copy);
                }
            }
            if let Engine::Barrier(place) = engine {
                let bytes = copies.iter().filter(|copy| !copy.is_padding).map(|copy| copy.size).sum();
                tells_barrier(checks, (actor, site), place, bytes, (write, write_epoch, by_proxy));
            }
        });
        Ok(())
    }

    /// A value is stored or changed later, and then a barrier counts its bytes.
    pub(crate) fn watch_later(
        &mut self,
        thread: Thread,
        (address, bytes): (u64, usize),
        how: How,
        bar: u64,
        by_proxy: bool,
    ) {
        let (actor, site) = (self.actor(thread), self.site);
        self.tell(|checks, _| {
            let (engine, epoch) = checks.begin_copy(actor, Engine::Barrier(bar), 1);
            checks.access(Event { actor, site, address, bytes, how, engine: Some((engine, epoch, by_proxy)) });
            tells_barrier(checks, (actor, site), bar, bytes, (engine, epoch, by_proxy));
        });
    }

    /// A thread asks to cancel a launch.
    pub(crate) fn watch_request(&mut self, thread: Thread) {
        let site = self.site;
        self.tell(|checks, machine| checks.asks(machine.actor(thread), site));
    }

    /// A thread hands over the descriptor of a matrix of `tcgen05`.
    pub(crate) fn watch_descriptor(&mut self, thread: Thread, descriptor: u64) {
        let site = self.site;
        if !Matrix::is_marked(descriptor) {
            self.tell(|checks, machine| checks.has_unmarked_descriptor(machine.actor(thread), site));
        }
    }

    /// A thread reads a response that says that nothing was cancelled: whether that is so, or the number of a block.
    pub(crate) fn watch_refusal(&mut self, thread: Thread, takes_number: bool) {
        let site = self.site;
        self.tell(|checks, machine| match takes_number {
            true => checks.has_no_block(machine.actor(thread), site),
            false => checks.sees_refusal(machine.actor(thread), site),
        });
    }

    /// A warp multiplies a sparse matrix: metadata that say nothing, if there are such.
    pub(crate) fn watch_metadata(&mut self, thread: Thread, found: Option<Meaningless>) {
        let Some(Meaningless { bits }) = found else { return };
        let site = self.site;
        self.tell(|checks, machine| checks.metadata_say_nothing(machine.actor(thread), site, bits));
    }

    /// A warp begins to multiply matrices that are in these units of 16 bytes.
    pub(crate) fn watch_matrices(&mut self, thread: Thread, units: impl Iterator<Item = u64>) {
        let group = 1 + self.warp(thread.warp).multiplied;
        let (actor, site) = (self.actor(thread), self.site);
        self.tell(|checks, _| {
            let (engine, epoch) = checks.begin_copy(actor, Engine::Matrix, group);
            let engine = Some((engine, epoch, true));
            let mut units = units.peekable();
            while let Some(address) = units.next() {
                let mut bytes = 16;
                while units.next_if_eq(&(address + bytes)).is_some() {
                    bytes += 16;
                }
                checks.access(Event { actor, site, address, bytes: bytes as usize, how: How::READ, engine });
            }
        });
    }

    /// Groups of four warps are done, and one of the warps knows it.
    pub(crate) fn watch_multiplied(&mut self, all: &[Thread], warps: Range<usize>, done: u32) {
        self.tell(|checks, machine| {
            let first = |warp| machine.actor(Thread { warp, frame: 0, lane: 0 });
            let waiting: Vec<Actor> = all.iter().map(|thread| machine.actor(*thread)).collect();
            warps.for_each(|warp| checks.multiplied(&waiting, first(warp), done));
        });
    }

    pub(crate) fn watch_copied(&mut self, thread: Thread, engine: Engine, done: u32) {
        self.tell(|checks, machine| checks.copied(machine.actor(thread), engine, done));
    }

    pub(crate) fn watch_copied_arrival(&mut self, thread: Thread, bar: u64, done: u32) {
        self.tell(|checks, machine| checks.copied_at(machine.actor(thread), bar, done));
    }

    /// The word of a barrier in memory has changed.
    pub(crate) fn watch_phase(&mut self, bar: u64, old: u64, new: u64) {
        // Its highest bit is the parity of the phase.
        if (old ^ new) >> 63 == 1 {
            self.tell(|checks, _| checks.turn(bar));
        }
    }

    /// A barrier in memory is initialised, or somebody arrives at it.
    pub(crate) fn watch_mbarrier(&mut self, thread: Thread, bar: u64, kind: &str, arrival: Arrival) -> Result<()> {
        if self.checks.is_none() {
            return Ok(());
        }
        match kind {
            "init" => self.watch_one(thread, bar, 8, How::BEGIN_OF_BARRIER)?,
            "inval" => self.watch_one(thread, bar, 8, How::END_OF_BARRIER)?,
            _ => self.uses_barrier(thread, bar)?,
        }
        let site = self.site;
        let Owner::Shared(block) = owner(bar, self.cluster).0 else { return Ok(()) };
        self.tell(|checks, machine| {
            let actor = machine.actor(thread);
            match kind {
                "init" => checks.init(actor, bar, site),
                _ if !is_usable(checks, actor, site, bar) => {}
                "inval" => checks.end_barrier(actor, bar, site),
                "arrive" | "arrive_drop" => checks.arrive_at(actor, site, bar, block as u32, arrival),
                _ => {}
            }
        });
        Ok(())
    }

    /// The initialisation has to be ordered before.
    fn uses_barrier(&mut self, thread: Thread, bar: u64) -> Result<()> {
        self.watch_one(thread, bar, 8, How::BARRIER)
    }

    pub(crate) fn watch_mbarrier_wait(
        &mut self,
        thread: Thread,
        bar: u64,
        arrival: Arrival,
        done: bool,
        parity: Option<u32>,
    ) -> Result<()> {
        if self.checks.is_none() {
            return Ok(());
        }
        let site = self.site;
        self.tell(|checks, machine| {
            let actor = machine.actor(thread);
            is_usable(checks, actor, site, bar);
            let key = (actor.block, actor.number);
            if done {
                checks.waits.remove(&key);
                checks.after_wait(actor, site, bar, arrival);
            } else {
                checks.waits.insert(key, (bar, parity, site));
            }
        });
        self.uses_barrier(thread, bar)
    }

    /// A wait is not for a phase at which somebody has arrived.
    pub(crate) fn watch_no_state(&mut self, thread: Thread, bar: u64, state: u32) {
        let site = self.site;
        self.tell(|checks, machine| checks.no_state(machine.actor(thread), site, bar, state));
    }

    /// Threads end.
    pub(crate) fn watch_end(&mut self, group: Group) {
        let site = self.site;
        self.for_each(group, |checks, actor| checks.end(actor, site));
    }

    /// The grid before this one has ended.
    pub(crate) fn watch_grid_before(&mut self, group: Group) {
        self.tell(|checks, machine| checks.after_grid(group.threads().map(|thread| machine.actor(thread))));
    }

    /// The next grid may begin.
    pub(crate) fn watch_dependents(&mut self, group: Group) {
        self.for_each(group, |checks, actor| checks.launch_dependents(actor));
    }

    /// The bytes that a barrier expects change.
    pub(crate) fn watch_bytes(&mut self, thread: Thread, bar: u64, bytes: i64) {
        let site = self.site;
        self.tell(|checks, machine| checks.expect(machine.actor(thread), site, bar, bytes));
    }

    /// The memory of a block is gone.
    pub(crate) fn watch_burial(&mut self, block: usize) {
        let begin = shared_of(block, self.cluster);
        let bytes = self.shared_room() as u64;
        self.tell(|checks, _| checks.bury(block as u32, begin, bytes));
    }
}

/// Whether there is a barrier for a thread that uses it. Else that is told.
fn is_usable(checks: &mut Checks, actor: Actor, site: u32, bar: u64) -> bool {
    if !checks.is_barrier(bar) {
        checks.no_barrier(actor, site, bar);
        return false;
    }
    let end = checks.ended_before(actor, bar);
    if let Some(end) = end {
        checks.ended_barrier(actor, site, bar, end);
    }
    end.is_none()
}

/// What is done later tells a barrier of its bytes: the barrier has to be initialised before.
fn tells_barrier(checks: &mut Checks, (actor, site): (Actor, u32), place: u64, bytes: usize, engine: (u32, u32, bool)) {
    checks.expect(actor, site, place, -(bytes as i64));
    if !checks.is_barrier(place) {
        checks.no_barrier(actor, site, place);
    } else {
        // The barrier is accessed through the generic proxy, whatever proxy the bytes go through.
        let event = Event { actor, site, address: place, bytes: 8, how: How::BARRIER, engine: None };
        checks.arrival_of_copy(event, engine);
    }
}
