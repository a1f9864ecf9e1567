//! What comes before a grid that `griddepcontrol.launch_dependents` lets begin.
//!
//! PTX says that a release fence for the GPU, before that instruction in its thread, synchronizes with the start of the dependent
//! grid. A block that does not execute it has ended before that start: what it reads is read, but what it writes need not be visible.

use super::actor::Actor;
use super::clock::{Clock, Known};
use super::mark::{Mark, QuickMap};

/// Whether an access, of whose threads this is the first, is known.
pub(super) fn knows(known: &Clock, mark: &Mark, Actor { block, number }: Actor) -> bool {
    match mark.is_engine {
        true => known.of_engine(mark.who) >= mark.epoch,
        false => known.has(block, number, mark.lanes, mark.epoch),
    }
}

/// What the dependent grid knows when it begins, and the blocks that need not have ended.
#[derive(Default)]
pub(super) struct Dependents {
    known: Clock,
    blocks: QuickMap<()>,
}

impl Dependents {
    /// A thread of a block lets them begin after a fence, if there was one.
    pub(super) fn add(&mut self, block: u32, fenced: Option<&Known>) {
        self.blocks.insert(block.into(), ());
        fenced.into_iter().for_each(|fenced| self.known.join(&fenced.ordered));
    }

    /// Whether they come after an access, of whose threads this is the first.
    pub(super) fn sees(&self, mark: &Mark, first: Actor) -> bool {
        let has_ended = !mark.is_engine && !mark.writes && !self.blocks.contains_key(&first.block.into());
        has_ended || knows(&self.known, mark, first)
    }
}
