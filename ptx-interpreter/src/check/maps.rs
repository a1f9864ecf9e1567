//! Tensor maps that the grid itself writes. The tensormap proxy sees what a fence has released to it, and another fence has acquired
//! for that map.

use super::actor::Actor;
use super::checks::{Checks, Event, Found};
use super::clock::Clock;
use super::finding::Kind;
use super::mark::{CELL, Mark};
use crate::ptx::access::How;

impl Checks {
    /// `fence.proxy.tensormap::generic.acquire`
    pub(crate) fn acquire_map(&mut self, actor: Actor, map: u64) {
        self.state(actor).known.acquire_map(map);
    }

    /// A copy reads a tensor map through the tensormap proxy.
    pub(crate) fn reads_map(&mut self, actor: Actor, site: u32, map: u64, bytes: usize) {
        self.threads_of(actor.block);
        self.maps.insert(map, bytes as u64);
        let event = Event { actor, site, address: map, bytes, how: How::READ, engine: None };
        let hidden = (map..map + bytes as u64)
            .step_by(CELL as usize)
            .filter_map(|at| Some((at, self.shadow.last_write(at)?)))
            .find(|(_, write)| !self.has_acquired(event, write));
        if let Some((at, write)) = hidden {
            self.hidden_map(event, &write, at);
        }
    }

    fn has_acquired(&self, event: Event, write: &Mark) -> bool {
        let maps = self.known_state(event.actor).known.maps.as_ref();
        maps.and_then(|maps| maps.acquired.get(&event.address)).is_some_and(|clock| self.is_in(clock, write))
    }

    fn is_in(&self, clock: &Clock, write: &Mark) -> bool {
        let writer = self.writer_of(write);
        match write.is_engine {
            true => clock.of_engine(write.who) >= write.epoch,
            false => clock.of_thread(writer.block, writer.number) >= write.epoch,
        }
    }

    fn writer_of(&self, write: &Mark) -> Actor {
        self.actor_of(write, write.lanes.trailing_zeros() as usize)
    }

    fn hidden_map(&mut self, event: Event, write: &Mark, at: u64) {
        let (writer, state) = (self.writer_of(write), self.known_state(event.actor));
        let is_own = !write.is_engine && writer == event.actor;
        let is_ordered = is_own || self.is_in(&state.known.ordered, write);
        let is_released = state.known.maps.as_ref().is_some_and(|maps| self.is_in(&maps.released, write));
        const ACQUIRE: &str =
            "`fence.proxy.tensormap::generic.acquire.gpu [map], 128` after the barrier or flag, and before the copy";
        let (note, help) = match (is_ordered, is_released) {
            (false, _) => (
                "nothing orders the two threads either",
                format!("release the map with a barrier or a flag after its writes, and execute {ACQUIRE}"),
            ),
            (true, true) => (
                "the map was released to the tensormap proxy, and not acquired: the copy may use an older one",
                format!("let the thread that begins the copy execute {ACQUIRE}"),
            ),
            (true, false) => (
                "the threads are ordered, but the tensormap proxy is not: the copy may use an older map",
                format!(
                    "let the writer execute `fence.proxy.tensormap::generic.release.gpu` after its writes, or publish the map by \
                     `tensormap.cp_fenceproxy`; then {ACQUIRE}"
                ),
            ),
        };
        self.find(Found {
            kind: if is_ordered { Kind::Proxy } else { Kind::Race },
            title: "a tensor copy uses a tensor map that was written through the generic proxy".into(),
            places: vec![(writer, write.site, self.what_was(write)), (event.actor, event.site, self.what(event, at))],
            notes: vec![note.into()],
            help,
            times: 1,
        });
    }
}
