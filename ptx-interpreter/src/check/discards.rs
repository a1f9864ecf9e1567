//! Who has discarded which bytes.

use std::collections::VecDeque;

use super::actor::Actor;

/// So many are remembered.
const MOST: usize = 1024;

/// A thread discards bytes by an instruction.
pub(super) struct Discard {
    pub(super) by: (Actor, u32),
    pub(super) address: u64,
    pub(super) bytes: usize,
}

/// The newest ones, in the order in which they came.
#[derive(Default)]
pub(super) struct Discards(VecDeque<Discard>);

impl Discards {
    pub(super) fn add(&mut self, discard: Discard) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(discard);
    }

    /// Who has discarded a byte last, and where.
    pub(super) fn by(&self, at: u64) -> Option<(Actor, u32)> {
        self.0
            .iter()
            .rev()
            .find(|discard| at.wrapping_sub(discard.address) < discard.bytes as u64)
            .map(|discard| discard.by)
    }
}
