//! What comes before a grid that `griddepcontrol.launch_dependents` lets begin.
//!
//! PTX says that a release fence for the GPU, before that instruction in its thread, synchronizes with the start of the dependent
//! grid. A block that does not execute it has ended before that start: what it reads is read, but what it writes need not be visible.

use std::collections::HashSet;

use super::actor::Actor;
use super::checks::Checks;
use super::clock::Clock;
use super::mark::Mark;

/// What the dependent grid knows when it begins, and the blocks that need not have ended.
#[derive(Default)]
pub(super) struct Dependents {
    known: Clock,
    blocks: HashSet<u32>,
}

impl Checks {
    /// The next grid may begin.
    pub(crate) fn launch_dependents(&mut self, actor: Actor) {
        let fenced = self.state(actor).strong.as_ref().and_then(|strong| strong.fenced[2].clone());
        let dependents = self.dependents.get_or_insert_default();
        dependents.blocks.insert(actor.block);
        fenced.iter().for_each(|fenced| dependents.known.join(&fenced.ordered));
    }

    /// Whether an access comes before whatever the dependent grid does.
    pub(super) fn is_shown(&self, mark: &Mark) -> bool {
        let Some(Dependents { known, blocks }) = &self.dependents else { return false };
        if mark.is_engine {
            return known.of_engine(mark.who) >= mark.epoch;
        }
        let Actor { block, number } = self.actor_of(mark, 0);
        !mark.writes && !blocks.contains(&block) || known.has(block, number, mark.lanes, mark.epoch)
    }
}
