//! What is remembered of `fence.sc`.

use std::collections::{BTreeMap, BTreeSet};

use super::actor::Actor;
use super::clock::Known;
use super::heads::{Heads, Reach};
use super::mark::{Mark, QuickMap, QuickTable};

/// How far apart two threads can be: in a block, a cluster, a GPU, or on two GPUs.
pub(super) const DISTANCES: usize = 4;

/// Cells of which overwritten accesses are remembered, and accesses of each, at most.
const OVERWRITTEN: usize = 256;

/// A `fence.sc`.
#[derive(Clone, Debug)]
pub(super) struct Sc {
    /// The epoch that begins with it.
    pub(super) epoch: u32,
    pub(super) reach: Reach,
    pub(super) known: Known,
}

/// What is remembered of a thread.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) fences: Vec<Sc>,
    /// Whose strong accesses its own ones came after, and in which epochs these were.
    pub(super) after: QuickTable<Actor, u32>,
    /// Its epoch at the last of its own.
    pub(super) epoch: u32,
    /// What is known by that to fences behind it, if they reach threads so far apart.
    pub(super) learned: [Known; DISTANCES],
    /// What its block's fences that reach so far knew that it knew of, when its epoch was this one and the block had so many.
    pub(super) of_block: [(u32, usize, Known); DISTANCES],
}

impl Own {
    /// The last fence that reaches threads so far apart, before an epoch: it knew all that those before it knew.
    pub(super) fn before(&self, epoch: u32, distance: usize) -> Option<&Sc> {
        self.fences.iter().rev().find(|fence| fence.epoch <= epoch && fence.reach.level >= distance)
    }
}

/// Of the threads of a block.
#[derive(Debug, Default)]
pub(super) struct OfBlock {
    pub(super) own: BTreeMap<usize, Own>,
    /// Those that came after others.
    pub(super) later: BTreeSet<usize>,
    /// How many fences they have executed that reach threads so far apart.
    pub(super) counts: [usize; DISTANCES],
}

impl OfBlock {
    pub(super) fn own(&mut self, number: usize) -> &mut Own {
        self.own.entry(number).or_default()
    }
}

/// Of all threads.
#[derive(Debug, Default)]
pub(super) struct Fences {
    pub(super) blocks: QuickMap<OfBlock>,
    /// What the fences of blocks knew that have ended, of those that reach threads so far apart.
    pub(super) ended: QuickMap<[Known; DISTANCES]>,
    /// Whether there was one that reaches threads so far apart.
    pub(super) has: [bool; DISTANCES],
    /// Of cells the reads and strong writes that weak writes raced with and took the place of: they come before later writes, too.
    pub(super) overwritten: BTreeMap<u64, Vec<Mark>>,
    /// What those that were executed hand over to later ones, where loads return more than the newest value.
    pub(super) handed: Heads,
}

impl Fences {
    pub(super) fn of(&mut self, block: u32) -> &mut OfBlock {
        self.blocks.entry(block.into()).or_default()
    }

    /// Whether threads of a block have executed one that reaches threads so far apart.
    pub(super) fn has(&self, block: u32, distance: usize) -> bool {
        let block = block.into();
        self.has[distance]
            && (self.blocks.get(&block).is_some_and(|of_block| of_block.counts[distance] > 0)
                || self.ended.contains_key(&block))
    }

    pub(super) fn own(&mut self, actor: Actor) -> &mut Own {
        self.of(actor.block).own(actor.number)
    }

    /// A weak write races with an earlier access.
    pub(super) fn overwrites(&mut self, cell: u64, earlier: Mark) {
        if self.overwritten.len() < OVERWRITTEN || self.overwritten.contains_key(&cell) {
            let all = self.overwritten.entry(cell).or_default();
            if all.len() < OVERWRITTEN && !all.contains(&earlier) {
                all.push(earlier);
            }
        }
    }

    /// A block has ended.
    pub(super) fn bury(&mut self, block: u32) {
        let Some(of_block) = self.blocks.remove(&block.into()).filter(|of_block| of_block.counts[0] > 0) else {
            return;
        };
        let ended = self.ended.entry(block.into()).or_default();
        for (distance, ended) in ended.iter_mut().enumerate() {
            for own in of_block.own.values() {
                own.before(u32::MAX, distance).into_iter().for_each(|fence| ended.join(&fence.known));
            }
        }
    }
}
