//! Who has discarded which bytes.

use std::collections::VecDeque;

use super::actor::Actor;
use super::checks::Event;

/// So many are remembered.
const MOST: usize = 1024;

/// The newest ones, in the order in which they came.
#[derive(Default)]
pub(super) struct Discards(VecDeque<Event>);

impl Discards {
    pub(super) fn add(&mut self, event: Event) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(event);
    }

    /// Who has discarded a byte last, and where.
    pub(super) fn by(&self, at: u64) -> Option<(Actor, u32)> {
        let event = self.0.iter().rev().find(|event| at.wrapping_sub(event.address) < event.bytes as u64)?;
        Some((event.actor, event.site))
    }
}
