//! What orders threads: fences, releases and acquires, barriers, and copies that are done.

use super::checks::{Actor, Checks, Event, Lack, Mbarrier, Missed, Record, State, level, scope_of};
use super::clock::{Known, Pool};
use crate::access::{Arrival, Engine, Fence, Scope};

/// What a thread remembers of orders that were too weak, at most.
const MISSED: usize = 8;

impl State {
    /// All that the thread did and knew until now; a new epoch begins.
    fn release(&mut self, actor: Actor, threads: usize) -> Known {
        let mut known = self.known.clone();
        known.ordered.raise_thread(actor.block, actor.number, threads, self.epoch);
        self.epoch += 1;
        known
    }

    fn miss(&mut self, missed: Missed) {
        self.missed.retain(|old| (old.write, old.read, old.why) != (missed.write, missed.read, missed.why));
        if self.missed.len() == MISSED {
            self.missed.remove(0);
        }
        self.missed.push(missed);
    }
}

fn join(into: &mut Option<Known>, known: &Known) {
    into.get_or_insert_default().join(known);
}

impl Checks {
    pub(crate) fn fence(&mut self, actor: Actor, fence: Fence) {
        let threads = self.threads;
        let state = self.state(actor);
        match fence {
            Fence::Memory(scope) => {
                for place in 0..=level(scope) {
                    if let Some(known) = state.observed[place].take() {
                        state.known.join(&known);
                    }
                }
                let known = state.release(actor, threads);
                state.fenced[..=level(scope)].fill(Some(known));
            }
            Fence::Async | Fence::BarrierInit => {
                let known = state.release(actor, threads);
                state.known.proxied.join(&known.ordered);
            }
            Fence::Other => {}
        }
    }

    /// A strong access reads what a strong write left.
    pub(crate) fn strong_read(&mut self, event: Event) {
        let (Some(record), Some(scope)) = (self.records.get(&event.address), event.how.scope) else { return };
        if record.writer == event.actor {
            return;
        }
        let distance = self.distance(record.writer.block, event.actor.block);
        let record = record.clone();
        let needed = scope_of(distance);
        let wide = level(scope) >= distance && level(record.scope) >= distance;
        let got = record.carried[distance].as_ref().filter(|_| wide);
        let lack = match got {
            _ if level(scope) < distance => Some(Lack::AcquireScope(scope, needed)),
            _ if level(record.scope) < distance => Some(Lack::ReleaseScope(record.scope, needed)),
            None if record.carried[0].is_some() => Some(Lack::ReleaseScope(Scope::Block, needed)),
            None => Some(Lack::Release),
            Some(_) if !event.how.acquires => Some(Lack::Acquire),
            Some(_) => None,
        };
        let state = self.state(event.actor);
        match got {
            Some(known) if event.how.acquires => state.known.join(known),
            Some(known) => join(&mut state.observed[distance], known),
            None => {}
        }
        if let Some(why) = lack {
            state.miss(Missed { known: record.full.clone(), why, write: record.site, read: event.site });
        }
    }

    /// A strong access writes.
    pub(crate) fn strong_write(&mut self, event: Event) {
        let (threads, Some(scope)) = (self.threads, event.how.scope) else { return };
        let old = self.records.remove(&event.address).filter(|_| event.how.reads);
        let state = self.state(event.actor);
        let (fenced, epoch) = (state.fenced.clone(), state.epoch);
        let full = state.release(event.actor, threads);
        if !event.how.releases {
            // Nothing was released, so no epoch has ended.
            state.epoch = epoch;
        }
        let mut carried = fenced;
        for (place, carried) in carried.iter_mut().enumerate() {
            if place > level(scope) {
                *carried = None;
            } else if event.how.releases {
                *carried = Some(full.clone());
            }
        }
        let mut record = Record { writer: event.actor, scope, site: event.site, carried, full };
        if let Some(old) = old {
            let distance = self.distance(old.writer.block, event.actor.block);
            if level(scope).min(level(old.scope)) >= distance {
                // What was released to a block is nothing to the readers of another.
                for place in distance..3 {
                    if let Some(known) = &old.carried[place] {
                        join(&mut record.carried[place], known);
                    }
                }
            }
            record.full.join(&old.full);
        }
        self.records.insert(event.address, record);
    }

    /// A thread arrives at a barrier of its block.
    pub(crate) fn arrive(&mut self, actor: Actor, number: u32) {
        let mut pool = self.barriers.remove(&(actor.block, number)).unwrap_or_default();
        self.add(&mut pool, actor);
        self.barriers.insert((actor.block, number), pool);
    }

    fn add(&mut self, pool: &mut Pool, actor: Actor) {
        let threads = self.threads;
        let state = self.state(actor);
        pool.add(&state.known);
        pool.raise(actor.block, actor.number, threads, state.epoch);
        state.epoch += 1;
    }

    /// Those who waited go on, and know what all knew who arrived.
    pub(crate) fn complete(&mut self, block: u32, number: u32, waiting: impl Iterator<Item = Actor>) {
        let Some(pool) = self.barriers.remove(&(block, number)) else { return };
        self.learn(&pool.known, waiting);
    }

    fn learn(&mut self, known: &Known, actors: impl Iterator<Item = Actor>) {
        for actor in actors {
            self.state(actor).known = known.clone();
        }
    }

    /// `bar.warp.sync`
    pub(crate) fn meet(&mut self, all: &[Actor]) {
        let mut pool = Pool::default();
        all.iter().for_each(|actor| self.add(&mut pool, *actor));
        self.learn(&pool.known, all.iter().copied());
    }

    pub(crate) fn arrive_at_cluster(&mut self, actor: Actor, releases: bool) {
        let number = actor.block / self.cluster;
        let (mut pool, known) = self.clusters.remove(&number).unwrap_or_default();
        if releases {
            self.add(&mut pool, actor);
        }
        self.clusters.insert(number, (pool, known));
    }

    pub(crate) fn complete_cluster(&mut self, number: u32, waiting: impl Iterator<Item = Actor>) {
        let (pool, _) = self.clusters.remove(&number).unwrap_or_default();
        self.clusters.insert(number, (Pool::default(), pool.known));
        waiting.for_each(|actor| self.after_cluster(actor));
    }

    pub(crate) fn after_cluster(&mut self, actor: Actor) {
        let Some((_, known)) = self.clusters.get(&(actor.block / self.cluster)) else { return };
        let known = known.clone();
        self.state(actor).known.join(&known);
    }

    /// The engine of a copy that begins, and the epoch in which it will be done.
    pub(crate) fn begin_copy(&mut self, actor: Actor, engine: Engine, group: u32) -> (u32, u32) {
        let number = self.engine(engine, actor);
        match engine {
            Engine::Barrier(place) => (number, self.mbarriers.get(&place).map_or(1, |bar| bar.phase)),
            _ => (number, group),
        }
    }

    /// Groups of a thread are done, up to one.
    pub(crate) fn copied(&mut self, actor: Actor, engine: Engine, done: u32) {
        let read = self.engine(Engine::BulkRead, actor);
        let number = self.engine(engine, actor);
        let known = &mut self.state(actor).known.ordered;
        known.raise_engine(number, done);
        if engine == Engine::Bulk {
            known.raise_engine(read, done);
        }
    }

    /// The copies of a thread count at a barrier in memory.
    pub(crate) fn copied_at(&mut self, actor: Actor, place: u64, done: u32) {
        let engine = self.engine(Engine::Small, actor);
        if let Some(bar) = self.mbarriers.get_mut(&place) {
            bar.pool.known.ordered.raise_engine(engine, done);
        }
    }

    pub(crate) fn init(&mut self, actor: Actor, place: u64, site: u32) {
        let epoch = self.state(actor).epoch;
        let (pool, completed) = (Pool::default(), Known::default());
        // The phases of a new barrier come after those of one that was there before.
        let phase = self.mbarriers.get(&place).map_or(1, |old| old.phase + 1);
        self.mbarriers.insert(place, Mbarrier { init: (actor, epoch, site), phase, pool, completed });
    }

    pub(crate) fn is_barrier(&self, place: u64) -> bool {
        self.mbarriers.contains_key(&place)
    }

    /// Who initialised a barrier, if the asynchronous proxy does not know of it yet.
    pub(crate) fn hidden_init(&mut self, actor: Actor, place: u64) -> Option<(Actor, u32)> {
        let (writer, epoch, site) = self.mbarriers.get(&place)?.init;
        let seen = self.state(actor).known.proxied.of_thread(writer.block, writer.number) >= epoch;
        (!seen).then_some((writer, site))
    }

    pub(crate) fn arrive_at(&mut self, actor: Actor, place: u64, owner: u32, arrival: Arrival) {
        let wide = level(arrival.scope) >= self.distance(actor.block, owner);
        let Some(mut bar) = self.mbarriers.remove(&place) else { return };
        if arrival.releases && wide {
            self.add(&mut bar.pool, actor);
        }
        self.mbarriers.insert(place, bar);
    }

    /// A phase of a barrier is complete.
    pub(crate) fn turn(&mut self, place: u64) {
        let engine = self.engine(Engine::Barrier(place), Actor { block: 0, number: 0 });
        let Some(bar) = self.mbarriers.get_mut(&place) else { return };
        let pool = std::mem::take(&mut bar.pool);
        bar.completed.join(&pool.known);
        bar.completed.ordered.raise_engine(engine, bar.phase);
        bar.phase += 1;
    }

    /// A wait for a barrier has ended.
    pub(crate) fn after_wait(&mut self, actor: Actor, place: u64, acquires: bool) {
        let Some(bar) = self.mbarriers.get(&place).filter(|_| acquires) else { return };
        let known = bar.completed.clone();
        self.state(actor).known.join(&known);
    }
}
