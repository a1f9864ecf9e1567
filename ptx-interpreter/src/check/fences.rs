//! What is remembered of `fence.sc`.

use std::collections::{BTreeSet, HashMap};

use super::actor::Actor;
use super::clock::Known;
use super::heads::{Heads, Reach};

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
    pub(super) after: HashMap<Actor, u32>,
    /// Its epoch at the last of its own.
    pub(super) epoch: u32,
    /// What is known by that to fences behind it, if they reach threads so far apart.
    pub(super) learned: [Known; 3],
    /// What its block's fences knew that it knew of, when its epoch was this one and the block had so many.
    pub(super) of_block: (u32, usize, Known),
}

/// Of all threads.
#[derive(Debug, Default)]
pub(super) struct Fences {
    pub(super) own: HashMap<Actor, Own>,
    /// The threads of a block that came after others.
    pub(super) later: HashMap<u32, BTreeSet<usize>>,
    /// How many fences the threads of a block have executed.
    pub(super) count: HashMap<u32, usize>,
    /// What the fences of blocks knew that have ended.
    pub(super) ended: HashMap<u32, Known>,
    pub(super) has_any: bool,
    /// What those that were executed hand over to later ones, where loads return more than the newest value.
    pub(super) handed: Heads,
}

impl Fences {
    /// A block has ended.
    pub(super) fn bury(&mut self, block: u32) {
        if !self.has_any {
            return;
        }
        self.count.remove(&block);
        self.later.remove(&block);
        let ended = self.own.extract_if(|actor, _| actor.block == block);
        let all = ended.flat_map(|(_, own)| own.fences).reduce(|mut one, other| {
            one.known.join(&other.known);
            one
        });
        if let Some(all) = all {
            self.ended.insert(block, all.known);
        }
    }
}
