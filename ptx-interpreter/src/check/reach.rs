//! How far apart threads are, and how far a scope reaches.

use super::actor::Actor;
use super::checks::Checks;
use super::heads::Reach;
use crate::ptx::access::Scope;

impl Checks {
    /// How far apart two threads are: in a block, a cluster, a GPU, or on two GPUs.
    pub(super) fn distance(&self, one: u32, other: u32) -> usize {
        if one == other {
            0
        } else if one / self.cluster == other / self.cluster {
            1
        } else if self.grids.gpu(one) == self.grids.gpu(other) {
            2
        } else {
            3
        }
    }

    /// What a scope is among the distances. All threads of one GPU are the whole system, if there is no other one.
    pub(super) fn level(&self, scope: Scope) -> usize {
        match scope {
            Scope::Block => 0,
            Scope::Cluster => 1,
            Scope::Gpu => 2,
            Scope::System => self.widest(),
        }
    }

    /// The level of the whole system.
    pub(super) fn widest(&self) -> usize {
        if self.grids.is_one() { 2 } else { 3 }
    }

    pub(super) fn reach(&self, actor: Actor, scope: Scope) -> Reach {
        Reach {
            block: actor.block,
            cluster: actor.block / self.cluster,
            gpu: self.grids.gpu(actor.block),
            level: self.level(scope),
        }
    }
}

/// The scope that threads so far apart need.
pub(super) fn scope_of(distance: usize) -> Scope {
    [Scope::Block, Scope::Cluster, Scope::Gpu, Scope::System][distance]
}
