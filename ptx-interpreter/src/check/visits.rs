//! What is remembered of accesses that a block has to outlive.

use std::collections::HashMap;
use std::ops::Range;

use super::actor::Actor;
use super::clock::Pool;
use super::mark::QuickMap;

/// Who accesses the shared memory of a block: a thread of another block, or an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Visitor {
    Thread(Actor),
    Engine(u32),
}

/// An access that the block has to outlive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) actor: Actor,
    pub(super) epoch: u32,
    pub(super) address: u64,
    pub(super) writes: bool,
}

#[derive(Default)]
pub(super) struct Lifetimes {
    /// By the block, and by the visitor and its site.
    pub(super) visits: HashMap<u32, HashMap<(Visitor, u32), Visit>>,
    /// What the threads of a block knew that have ended, and how many have.
    pub(super) ends: QuickMap<(Pool, usize)>,
    /// The thread that ended last, and where.
    pub(super) last: HashMap<u32, (Actor, u32)>,
    pub(super) pairs: Pairs,
}

impl Lifetimes {
    pub(super) fn bury(&mut self, block: u32) {
        self.visits.remove(&block);
        self.ends.remove(&block.into());
        self.last.remove(&block);
        self.pairs.bury(block);
    }
}

/// Columns of tensor memory.
pub(super) type Columns = Range<usize>;

/// What warps do with tensor memory of pairs of blocks.
#[derive(Default)]
pub(super) struct Pairs {
    /// Loads and stores of warps, of which the first thread is named: the last ones by each instruction, and their epochs.
    pub(super) moves: HashMap<(Actor, u32, Columns), u32>,
    /// What one block has freed of the other's, by the other one.
    pub(super) freed: HashMap<u32, Vec<(Columns, Actor, u32)>>,
}

impl Pairs {
    fn bury(&mut self, block: u32) {
        self.moves.retain(|(actor, ..), _| actor.block != block);
        self.freed.remove(&block);
    }
}
