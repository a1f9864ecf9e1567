//! What is handed over with a value, and to whom.
//!
//! A release pattern begins with its head: a fence, or a write that releases. What the head's thread knew goes to those
//! who acquire the value, if the head's scope has them, and the scope of their acquire has the head's thread.

use super::actor::Actor;
use super::clock::Known;

/// Whose threads a scope has: those of a block, a cluster, a GPU or of all GPUs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) block: u32,
    pub(super) cluster: u32,
    pub(super) gpu: u32,
    /// 0, 1, 2 or 3.
    pub(super) level: usize,
}

/// What the heads of patterns hand over.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    system: Option<Box<Known>>,
    gpus: Vec<(u32, Known)>,
    clusters: Vec<(u32, Known)>,
    blocks: Vec<(u32, Known)>,
}

impl Heads {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// A head of such a scope.
    pub(super) fn put(&mut self, from: Reach, known: &Known) {
        join_at(&mut self.blocks, from.block, known);
        if from.level >= 1 {
            join_at(&mut self.clusters, from.cluster, known);
        }
        if from.level >= 2 {
            join_at(&mut self.gpus, from.gpu, known);
        }
        if from.level >= 3 {
            self.system.get_or_insert_default().join(known);
        }
    }

    /// What of another's may go to threads of a block: others never acquire it from them.
    pub(super) fn join_for(&mut self, to: Reach, other: &Heads) {
        if let Some(known) = at(&other.blocks, to.block) {
            join_at(&mut self.blocks, to.block, known);
        }
        if let Some(known) = at(&other.clusters, to.cluster) {
            join_at(&mut self.clusters, to.cluster, known);
        }
        if let Some(known) = at(&other.gpus, to.gpu) {
            join_at(&mut self.gpus, to.gpu, known);
        }
        if let Some(known) = &other.system {
            self.system.get_or_insert_default().join(known);
        }
    }

    /// Whether there is anything for an acquire of such a scope.
    pub(super) fn reaches(&self, to: Reach) -> bool {
        self.handed(to).next().is_some()
    }

    /// Whether an acquire of such a scope by somebody who knows that is handed over nothing but what idle threads did.
    pub(super) fn are_known(&self, to: Reach, known: &Known, is_idle: &dyn Fn(Actor, u32) -> bool) -> bool {
        let mut handed = Known::default();
        self.give(to, &mut handed);
        handed.is_within(known, is_idle)
    }

    /// Hands over what is for an acquire of such a scope.
    pub(super) fn give(&self, to: Reach, into: &mut Known) {
        self.handed(to).for_each(|known| into.join(known));
    }

    /// What is for an acquire of such a scope.
    fn handed(&self, to: Reach) -> impl Iterator<Item = &Known> {
        let block = at(&self.blocks, to.block);
        let cluster = at(&self.clusters, to.cluster).filter(|_| to.level >= 1);
        let gpu = at(&self.gpus, to.gpu).filter(|_| to.level >= 2);
        let system = self.system.as_deref().filter(|_| to.level >= 3);
        [block, cluster, gpu, system].into_iter().flatten()
    }
}

fn at(list: &[(u32, Known)], place: u32) -> Option<&Known> {
    list.binary_search_by_key(&place, |(of, _)| *of).ok().map(|found| &list[found].1)
}

fn join_at(list: &mut Vec<(u32, Known)>, place: u32, known: &Known) {
    match list.binary_search_by_key(&place, |(of, _)| *of) {
        Ok(found) => list[found].1.join(known),
        Err(at) => list.insert(at, (place, known.clone())),
    }
}
