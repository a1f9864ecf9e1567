//! Barriers of blocks and clusters, and what the end of a thread means for those who wait.

use crate::machine::group::Group;
use crate::machine::lanes::{LANES, lanes_of};
use crate::machine::meeting::{Barrier, Comes, Reduction};
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Machine, Warp};
use crate::ptx::operand::Operand;

impl Machine<'_> {
    /// Threads arrive at a barrier of their block, and wait there or go on.
    pub(crate) fn arrive(
        &mut self,
        group: Group,
        number: u32,
        expected: Option<usize>,
        holding: usize,
        waits: Option<Option<(Operand, Reduction)>>,
    ) -> Result<()> {
        let own = Comes { threads: expected, reduces: matches!(waits, Some(Some(_))) };
        let (block, live) = (self.warp(group.warp).block, self.warp(group.warp).live);
        self.progress += 1;
        self.watch_arrival(group, number);
        // A block of a litmus test is less than a warp, and each of its threads stands for a warp.
        let comes_for_all = self.threads >= LANES && group.mask & live & live.wrapping_neg() != 0;
        let ended = if comes_for_all { !live } else { 0 };
        let barrier = self.shared_of(block)?.barriers.entry(number).or_default();
        let first = *barrier.first.get_or_insert(own);
        if let Some(mixed) = first.mixed_with(own) {
            return stop(Why::Wrong, format!("at barrier {number} {mixed}"));
        }
        barrier.come(group.warp, group.mask, ended);
        barrier.holding += holding;
        if let Some(result) = waits {
            barrier.waiting.push((group, result));
            self.warp_mut(group.warp).running &= !group.mask;
        }
        self.complete(block, number)
    }

    /// Lets those who wait at a barrier go on, if all have arrived.
    pub(crate) fn complete(&mut self, block: usize, number: u32) -> Result<()> {
        let threads = self.threads;
        let own = self.shared_of(block)?;
        let ended = own.ended;
        let Some(barrier) = own.barriers.get_mut(&number) else { return Ok(()) };
        let lacks = match barrier.expected() {
            Some(count) => barrier.counted() < count,
            None => barrier.arrived < threads - ended,
        };
        if barrier.arrived == 0 || lacks {
            return Ok(());
        }
        let Barrier { arrived, waiting, holding, .. } = std::mem::take(barrier);
        self.watch_completion(block, number, &waiting);
        for (group, result) in waiting {
            self.warp_mut(group.warp).running |= group.mask;
            let Some((to, reduction)) = result else { continue };
            let value = match reduction {
                Reduction::Count => holding as u128,
                Reduction::And => (holding == arrived).into(),
                Reduction::Or => (holding > 0).into(),
            };
            for thread in group.threads() {
                self.set(thread, &to, value)?;
            }
        }
        Ok(())
    }

    /// Lets a cluster's threads go on, if all have arrived. What they sent before is there then; copies are not.
    pub(crate) fn complete_cluster(&mut self, number: usize) -> Result<()> {
        if !self.is_complete(number) {
            return Ok(());
        }
        self.clusters[number].phase += 1;
        self.watch_cluster(number);
        let warps = self.cluster * self.warps_of_block;
        for warp in self.warps[number * warps..(number + 1) * warps].iter_mut().flatten() {
            warp.running |= warp.at_cluster;
            lanes_of(warp.at_cluster).for_each(|lane| warp.arrived[lane] = 0);
            warp.at_cluster = 0;
        }
        (number * self.cluster..(number + 1) * self.cluster).for_each(|block| self.empty_l1(block));
        self.deliver(u64::MAX)
    }

    /// Whether all threads of a cluster that have not ended have arrived in this phase.
    fn is_complete(&self, number: usize) -> bool {
        let phase = self.clusters[number].phase + 1;
        let mut living = self.of_cluster(number).filter(|warp| warp.live != 0).peekable();
        living.peek().is_some() && living.all(|warp| lanes_of(warp.live).all(|lane| warp.arrived[lane] == phase))
    }

    /// The warps of a cluster.
    fn of_cluster(&self, number: usize) -> impl Iterator<Item = &Warp<'_>> {
        let warps = self.cluster * self.warps_of_block;
        self.warps[number * warps..(number + 1) * warps].iter().flatten().map(|warp| &**warp)
    }

    /// How many of a cluster's threads have arrived in this phase, and how many have not ended.
    pub(crate) fn at_cluster(&self, number: usize) -> (usize, usize) {
        let phase = self.clusters[number].phase + 1;
        self.of_cluster(number).fold((0, 0), |(arrived, living), warp| {
            let here = lanes_of(warp.live).filter(|lane| warp.arrived[*lane] == phase).count();
            (arrived + here, living + warp.live.count_ones() as usize)
        })
    }

    /// Threads end. Who has ended is not waited for.
    pub(crate) fn end(&mut self, group: Group) -> Result<()> {
        self.watch_end(group);
        // Copies that nobody has waited for are done all the same.
        if !self.copies_of.is_empty() {
            for thread in group.threads() {
                let id = self.id(thread);
                let rest = self.copies_of.get_mut(&id).map(|begun| begun.bulk.rest()).unwrap_or_default();
                self.perform(&rest)?;
            }
        }
        let warp = self.warp_mut(group.warp);
        warp.live &= !group.mask;
        warp.running &= !group.mask;
        // The others look again whether somebody is still missing.
        warp.look_again();
        let (block, count) = (warp.block, group.mask.count_ones() as usize);
        self.progress += 1;
        self.clusters[block / self.cluster].ended += count;
        let threads = self.threads;
        let own = self.shared_of(block)?;
        own.ended += count;
        let has_ended = own.ended == threads;
        let numbers: Vec<u32> = own.barriers.keys().copied().collect();
        for number in numbers {
            self.complete(block, number)?;
        }
        if has_ended {
            self.watch_columns_left(block);
        }
        self.complete_cluster(block / self.cluster)
    }

    /// The memory of a cluster whose threads have all ended is not needed any more.
    pub(crate) fn bury(&mut self, number: usize) {
        if self.clusters[number].ended < self.cluster * self.threads {
            return;
        }
        let blocks = number * self.cluster..(number + 1) * self.cluster;
        self.living -= usize::from(self.blocks[blocks.start].is_some());
        blocks.clone().for_each(|block| self.watch_burial(block));
        for warp in &mut self.warps[blocks.start * self.warps_of_block..blocks.end * self.warps_of_block] {
            self.spare.extend(warp.take().into_iter().flat_map(|warp| warp.frames).map(|frame| frame.registers));
        }
        self.blocks[blocks].fill_with(|| None);
    }

    /// What was sent arrives.
    pub(crate) fn deliver(&mut self, until: u64) -> Result<()> {
        while self.sent.front().is_some_and(|(due, _)| *due <= until) {
            let Some((_, event)) = self.sent.pop_front() else { break };
            event(self)?;
        }
        Ok(())
    }
}
