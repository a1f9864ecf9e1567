//! Tensor maps that the grid itself writes. The tensormap proxy sees what a fence has released to it, and another fence has acquired
//! for that map. Nobody may overwrite a map that a copy still reads.

use super::actor::Actor;
use super::checks::{Checks, Event, Found};
use super::clock::Clock;
use super::finding::Kind;
use super::map_reads::Reader;
use super::mark::{CELL, Mark};
use crate::memory::spaces::is_parameter;
use crate::ptx::access::{Engine, How};

/// Bytes of a map.
const MAP: u64 = 128;

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

impl Checks {
    #[inline]
    pub(super) fn has_map_reads(&self) -> bool {
        !self.map_reads.last.is_empty()
    }

    /// A copy begins that reads a map. The phases of its barriers tell that it has.
    pub(crate) fn begins_map_read(&mut self, actor: Actor, site: u32, map: u64, bars: &[u64]) {
        if is_parameter(map) {
            return;
        }
        let number = self.map_reads.begin(actor, site, map);
        let engine = self.engine(Engine::Map, actor);
        for bar in bars {
            if let Some(bar) = self.mbarriers.get_mut(bar) {
                bar.pool[0].known.ordered.raise_engine(engine, number);
            }
        }
    }

    /// A thread commits a group of bulk copies, which has this number.
    pub(crate) fn commits_map_reads(&mut self, actor: Actor, group: u32) {
        self.map_reads.commit(actor, group);
    }

    /// A thread has waited for its groups, up to one. PTX counts those copies alone that complete in groups; CUTLASS counts on it for all.
    pub(super) fn waits_for_map_reads(&mut self, actor: Actor, done: u32) {
        if let Some(number) = self.map_reads.before(actor, done) {
            let engine = self.engine(Engine::Map, actor);
            self.state(actor).known.ordered.raise_engine(engine, number);
        }
    }

    /// A write, which may be to a map that a copy still reads.
    pub(super) fn overwrites_map(&mut self, event: Event) {
        let begin = event.address.saturating_sub(MAP - 1);
        let mut early = Vec::new();
        for (map, readers) in self.map_reads.last.range(begin..event.address + event.bytes as u64) {
            let known = &self.known_state(event.actor).known.ordered;
            let is_done = |reader: &Reader| {
                let engine = self.engines.get(&(Engine::Map, reader.actor));
                engine.is_some_and(|engine| known.of_engine(*engine) >= reader.number)
            };
            early.extend(readers.iter().find(|reader| !is_done(reader)).map(|reader| (*map, *reader)));
        }
        for (map, reader) in early {
            self.map_reads.last.remove(&map);
            self.overwritten_map(event, reader);
        }
    }

    fn overwritten_map(&mut self, event: Event, reader: Reader) {
        self.find(Found {
            kind: Kind::Async,
            title: "a tensor map is overwritten before a copy is known to have read it".into(),
            places: vec![
                (reader.actor, reader.site, "begins a copy that reads the map".into()),
                (event.actor, event.site, self.what(event, event.address)),
            ],
            notes: vec!["the copy may use the new map, or parts of both".into()],
            help:
                "wait first for the mbarrier of each copy that uses the map, or let the thread that began them execute \
                   `cp.async.bulk.commit_group` and `cp.async.bulk.wait_group.read 0` (tma_desc_wait_group())"
                    .into(),
            times: 1,
        });
    }
}
