//! Which values a load may return.

use super::actor::Actor;
use super::checks::{Checks, Event};
use super::history::History;
use super::marks::happened;

impl Checks {
    /// From now on, what loads may return is remembered.
    pub(crate) fn remember_values(&mut self) {
        self.history = Some(History::default());
    }

    pub(crate) fn remembers_values(&self) -> bool {
        self.history.is_some()
    }

    fn positions(&mut self, actor: Actor, address: u64, bytes: usize) -> Vec<usize> {
        self.threads_of(actor.block);
        let state = self.known_state(actor);
        let known = |(other, epoch): (Actor, u32)| other == actor || happened(state, epoch, other);
        self.history.as_ref().map(|history| history.older(known, address, bytes)).unwrap_or_default()
    }

    /// How many older values a load may return.
    pub(crate) fn older_values(&mut self, actor: Actor, address: u64, bytes: usize) -> usize {
        self.positions(actor, address, bytes).len()
    }

    /// The next load returns one of them.
    pub(crate) fn choose_value(&mut self, actor: Actor, address: u64, bytes: usize, which: usize) -> Option<u64> {
        let number = *self.positions(actor, address, bytes).get(which)?;
        self.history.as_mut()?.choose(address, number)
    }

    /// A write begins, where memory holds that. Where many bytes are written, nothing is remembered any longer.
    pub(crate) fn remember_write(&mut self, event: Event, old: Option<u64>) {
        let epoch = self.state(event.actor).epoch;
        let Some(history) = &mut self.history else { return };
        match old {
            Some(old) => history.write((event.actor, epoch), event.address, event.bytes, old),
            None => history.forget(event.address, event.bytes as u64),
        }
    }
}
