//! What orders threads: fences, releases and acquires, barriers, and copies that are done.

use std::rc::Rc;

use super::actor::Actor;
use super::checks::{Checks, Event, Lack, Meeting, Missed, State, Strong, Through};
use super::clock::{Known, Pool};
use super::heads::{Heads, Reach};
use super::mark::CELL;
use super::record::{Numbers, Record};
use super::trail::{Link, Trail};
use crate::ptx::access::{Engine, Fence, Scope};

impl State {
    /// All that the thread did and knew until now; a new epoch begins.
    pub(super) fn release(&mut self, actor: Actor, threads: usize) -> Known {
        let mut known = self.known.clone();
        known.ordered.raise_thread(actor.block, actor.number, threads, self.epoch);
        self.epoch += 1;
        known
    }

    /// A strong read sees what was handed over. An acquire for the whole system leaves nothing for later ones.
    pub(super) fn observe(&mut self, event: Event, heads: &Heads, reach: Reach, widest: usize) {
        let place = (event.address, event.bytes);
        let takes_all = event.how.acquires && reach.level == widest;
        if !takes_all && heads.reaches(Reach { level: widest, ..reach }) {
            let strong = self.strong();
            strong.observed.join_for(reach, heads);
            strong.observed_at.entry(place).or_default().join_for(reach, heads);
        }
        if event.how.acquires {
            heads.give(reach, &mut self.known);
        }
    }

    /// An acquire acquires what earlier strong reads of the place have seen.
    fn acquire_what_was_observed(&mut self, event: Event, reach: Reach) {
        let strong = self.strong.as_ref();
        if let Some(before) = strong.and_then(|strong| strong.observed_at.get(&(event.address, event.bytes))) {
            before.give(reach, &mut self.known);
        }
    }

    pub(super) fn strong(&mut self) -> &mut Strong {
        self.strong.get_or_insert_default()
    }
}

impl Checks {
    pub(crate) fn fence(&mut self, actor: Actor, fence: Fence) {
        let threads = self.threads;
        match fence {
            Fence::Memory { scope, acquires, releases, is_sc } => {
                let reach = self.reach(actor, scope);
                self.releases |= releases && reach.level >= 2;
                self.acquires |= acquires && reach.level >= 2;
                if acquires {
                    if let Some(history) = &mut self.history {
                        history.fences.insert(actor, history.late);
                    }
                    let state = self.state(actor);
                    let strong = state.strong.as_ref();
                    strong.into_iter().for_each(|strong| strong.observed.give(reach, &mut state.known));
                }
                if is_sc {
                    let before = self.known_before(actor, reach);
                    self.state(actor).known.join(&before);
                }
                let state = self.state(actor);
                let known = state.release(actor, threads);
                if is_sc {
                    self.fenced(actor, reach, known.clone());
                }
                if releases {
                    let strong = self.state(actor).strong();
                    if scope == Scope::System {
                        strong.to_system = Some(known.clone());
                    }
                    strong.fenced[..=reach.level].fill(Some(known));
                }
            }
            Fence::Async(space) => {
                let state = self.state(actor);
                let known = state.release(actor, threads);
                for (place, proxied) in state.known.proxied.iter_mut().enumerate() {
                    if space.is_none_or(|space| place == space as usize) {
                        proxied.join(&known.ordered);
                    }
                }
            }
            Fence::Maps => {
                let state = self.state(actor);
                let known = state.release(actor, threads);
                state.known.release_maps(&known.ordered);
            }
            Fence::Aliases { acquires, releases } => {
                let memory = Fence::Memory { scope: Scope::System, acquires, releases, is_sc: false };
                if acquires {
                    self.fence(actor, memory);
                }
                self.fence_aliases(actor);
                if releases {
                    self.fence(actor, memory);
                }
            }
            Fence::BarrierInit => {
                let own = self.mbarriers.values_mut().filter(|bar| bar.init.0 == actor);
                own.for_each(|bar| bar.shown = true);
            }
            Fence::Other => {}
        }
    }

    /// A strong access reads. Gives the numbers of the strong writes that it observes: the one that it reads, and those that it
    /// continues; and what an atomic continues.
    pub(super) fn strong_read(&mut self, event: Event, scope: Scope) -> (Numbers, Option<Rc<Record>>) {
        let reach = self.reach(event.actor, scope);
        if event.how.acquires {
            self.acquires_what_was_observed(event, scope);
        }
        let chosen = self.history.as_ref().and_then(|history| history.observed.as_ref());
        let record = match chosen {
            Some(chosen) => chosen.record.clone(),
            None => self.record(event).cloned(),
        };
        let Some(record) = record else { return (Numbers::new(), None) };
        let distance = self.distance(record.writer.block, event.actor.block);
        let is_own = record.writer == event.actor;
        let wide = is_own || reach.level >= distance && self.level(record.scope) >= distance;
        let mut observed = Numbers::new();
        if wide {
            if event.how.acquires || !record.heads.is_empty() {
                let widest = self.widest();
                self.state(event.actor).observe(event, &record.heads, reach, widest);
            }
            observed.clone_from(&record.continues);
            observed.push(record.number);
            self.observes(event);
        }
        let last = self.lack(&record, event, reach, distance).map(|why| (why, record.writer, record.site));
        // Of a chain whose last write is right, an earlier one may have released nothing.
        let relaxed = || record.relaxed_by_others(event.actor).map(|(writer, write)| (Lack::Release, writer, write));
        let lack = last.filter(|(_, writer, _)| *writer != event.actor).or_else(relaxed);
        if let Some(lack) = lack.filter(|_| !event.how.is_unused) {
            let acquirable = (lack.0 == Lack::Acquire).then(|| Rc::clone(&record));
            self.miss(event, lack, record.full.clone(), acquirable);
        }
        (observed, wide.then_some(record))
    }

    /// A strong access reads what would have handed that over, had something been stronger.
    pub(super) fn miss(
        &mut self,
        event: Event,
        (why, writer, write): (Lack, Actor, u32),
        known: Trail,
        record: Option<Rc<Record>>,
    ) {
        let Event { actor, site: read, address, bytes, .. } = event;
        let (through, flag) = (Through::Flag, Some((address, bytes)));
        let missed = Missed { known, through, why, writer, write, read, epoch: 0, flag, record };
        self.misses = true;
        self.threads_of(actor.block).change_beside(actor.number).miss(missed);
    }

    /// An acquire acquires what strong reads before it have seen.
    pub(super) fn acquires_what_was_observed(&mut self, event: Event, scope: Scope) {
        let reach = self.reach(event.actor, scope);
        self.acquires |= reach.level >= 2;
        self.state(event.actor).acquire_what_was_observed(event, reach);
    }

    /// What the last write of a place left there, if it was a strong one of the same bytes.
    fn record(&self, event: Event) -> Option<&Rc<Record>> {
        let record = self.shadow.record(event.address).filter(|record| record.bytes == event.bytes)?;
        let is_last = event.parts().all(|(bytes, begin, end)| {
            (begin..end).step_by(CELL as usize).all(|cell| {
                let last = self.shadow.last(cell);
                (0..CELL as usize).all(|byte| bytes >> byte & 1 == 0 || last[byte] == record.number)
            })
        });
        is_last.then_some(record)
    }

    /// What a thread did until now is released by its strong writes of a location.
    pub(super) fn releases_at(&mut self, event: Event, scope: Scope) {
        let (threads, wide) = (self.threads, self.reach(event.actor, scope).level);
        self.releases |= wide >= 2;
        let state = self.state(event.actor);
        let known = state.release(event.actor, threads);
        let place = (event.address, event.bytes);
        state.strong().released.entry(place).or_default()[..=wide].fill(Some(known));
    }

    /// A strong access writes: its number, and what it continues, if it is an atomic that read and observed writes.
    pub(super) fn strong_write(
        &mut self,
        event: Event,
        scope: Scope,
        number: u32,
        (mut continues, old): (Numbers, Option<Rc<Record>>),
    ) {
        let (threads, actor) = (self.threads, event.actor);
        let place = (event.address, event.bytes);
        let State { known, epoch, .. } = self.known_state(actor);
        let link = Link::new(known.ordered.clone(), actor, *epoch);
        if event.how.releases {
            self.releases_at(event, scope);
        }
        // Nobody asks for the writes that are not kept any longer.
        continues.retain(|number| self.shadow.keeps(event.address, event.bytes, *number));
        let reach = self.reach(actor, scope);
        // It is changed in place, if nobody else has it.
        drop(self.shadow.take_record(event.address));
        let mut record = old.unwrap_or_else(|| Rc::new(Record::new(place, actor, event.site, scope)));
        let own = Rc::make_mut(&mut record);
        own.follow(number, scope, (actor, event.site));
        own.continues = continues;
        own.full.push(link, threads);
        let strong = self.known_state(actor).strong.as_ref();
        let is_relaxed = !event.how.releases && strong.is_none_or(|strong| strong.fenced.iter().all(Option::is_none));
        let released = strong.into_iter().flat_map(|strong| [Some(&strong.fenced), strong.released.get(&place)]);
        for (level, known) in released.flatten().flat_map(|levels| levels.iter().enumerate()) {
            if let Some(known) = known {
                own.heads.put(Reach { level, ..reach }, known);
            }
        }
        if is_relaxed {
            own.releases_nothing();
        }
        self.hands_over(event, &record);
        self.shadow.put_record(record);
        if scope == Scope::System {
            self.tells_host(event);
        }
    }

    /// The host may see a strong write, and know by it what comes before a release for the system.
    fn tells_host(&mut self, Event { actor, address, bytes, how, .. }: Event) {
        let strong = self.known_state(actor).strong.as_ref();
        let fenced = strong.and_then(|strong| strong.to_system.clone());
        let released = strong.filter(|_| how.releases).and_then(|strong| strong.released.get(&(address, bytes)));
        let released = released.and_then(|levels| levels[self.level(Scope::System)].clone());
        let host = self.host.get_or_insert_default();
        [fenced, released].into_iter().flatten().for_each(|known| host.join(&known.ordered));
    }

    /// A thread arrives at a barrier of its block.
    pub(crate) fn arrive(&mut self, (actor, site): (Actor, u32), number: u32) {
        let mut pool = self.barriers.remove(&(actor.block, number)).unwrap_or_default();
        self.add(&mut pool, actor);
        self.state(actor).passed.arrived[0] = site;
        self.barriers.insert((actor.block, number), pool);
    }

    pub(super) fn add(&mut self, pool: &mut Pool, actor: Actor) {
        let threads = self.threads;
        let state = self.state(actor);
        pool.add(&state.known);
        pool.raise(actor.block, actor.number, threads, state.epoch);
        state.epoch += 1;
    }

    /// Those who waited go on, and know what all knew who arrived.
    pub(crate) fn complete(&mut self, block: u32, number: u32, waiting: impl Iterator<Item = Actor>) {
        let Some(pool) = self.barriers.remove(&(block, number)) else { return };
        self.learn(pool, waiting, |state| state.passed.pass(1, state.passed.arrived[0]));
    }

    /// All of these know the same. Of their epochs they take the newest, so that they stay alike.
    fn learn(&mut self, pool: Pool, actors: impl Iterator<Item = Actor>, pass: impl Fn(&mut State)) {
        let known = pool.all();
        let actors: Vec<Actor> = actors.collect();
        let epoch = actors.iter().map(|actor| self.state(*actor).epoch).max().unwrap_or_default();
        for actor in actors {
            let state = self.state(actor);
            (state.known, state.epoch) = (known.clone(), epoch);
            pass(state);
        }
    }

    /// `bar.warp.sync`
    pub(crate) fn meet(&mut self, all: &[Actor], site: u32) {
        let mut pool = Pool::default();
        all.iter().for_each(|actor| self.add(&mut pool, *actor));
        self.learn(pool, all.iter().copied(), |state| state.passed.pass(0, site));
    }

    /// The barrier that two threads have passed last, if it is the same one; 0 if there is none.
    pub(super) fn passed_last(&self, one: Actor, other: Actor) -> u32 {
        let level = match self.distance(one.block, other.block) {
            0 => usize::from(!one.is_in_warp_of(other)),
            1 => 2,
            _ => return 0,
        };
        let last = |actor: Actor| {
            self.states.get(&u64::from(actor.block)).map_or(0, |all| all[actor.number].passed.last[level])
        };
        if last(one) == last(other) { last(one) } else { 0 }
    }

    pub(crate) fn arrive_at_cluster(&mut self, actor: Actor, site: u32, releases: bool) {
        self.state(actor).passed.arrived[1] = site;
        let number = actor.block / self.cluster;
        let mut meeting = self.clusters.remove(&number).unwrap_or_default();
        if releases {
            self.add(&mut meeting.pool, actor);
        } else {
            // What fences before it have released to the cluster: all, or the initialisation of barriers alone.
            if let Some(fenced) = self.state(actor).strong.as_ref().and_then(|strong| strong.fenced[1].as_ref()) {
                meeting.pool.add(fenced);
            }
            let own = self.mbarriers.values_mut().filter(|bar| bar.init.0 == actor && bar.shown && bar.told.is_none());
            own.for_each(|bar| bar.told = Some(meeting.phases));
            let state = self.state(actor);
            state.relaxed = Some((meeting.phases, state.epoch, site));
            state.epoch += 1;
        }
        self.clusters.insert(number, meeting);
    }

    pub(crate) fn complete_cluster(&mut self, number: u32, waiting: impl Iterator<Item = Actor>) {
        let Meeting { pool, phases, .. } = self.clusters.remove(&number).unwrap_or_default();
        self.clusters.insert(number, Meeting { known: pool.known, phases: phases + 1, ..Meeting::default() });
        waiting.for_each(|actor| self.after_cluster(actor));
    }

    pub(crate) fn after_cluster(&mut self, actor: Actor) {
        let Some(Meeting { known, phases, .. }) = self.clusters.get(&(actor.block / self.cluster)) else { return };
        let (known, phases) = (known.clone(), *phases);
        let state = self.state(actor);
        state.known.join(&known);
        state.met = phases;
        state.passed.pass(2, state.passed.arrived[1]);
    }

    /// Where a thread has arrived at its cluster's barrier without a release, after an epoch and before another one has gone on.
    pub(super) fn relaxed_arrival(&self, (actor, epoch): (Actor, u32), other: Actor) -> Option<u32> {
        let state = |of: Actor| self.states.get(&u64::from(of.block)).map(|threads| &threads[of.number]);
        let (phase, last, site) = state(actor)?.relaxed.filter(|_| self.distance(actor.block, other.block) < 2)?;
        (epoch <= last && state(other)?.met > phase).then_some(site)
    }

    /// Whether a write initialised a barrier, and a thread of the cluster has been told of that.
    pub(super) fn is_told_of_init(&self, actor: Actor, place: u64, (writer, site): (Actor, u32)) -> bool {
        self.mbarriers.get(&place).is_some_and(|bar| {
            let is_told = bar.told.is_some_and(|phase| self.known_state(actor).met > phase);
            (bar.init.0, bar.init.2) == (writer, site) && is_told && self.distance(writer.block, actor.block) < 2
        })
    }

    /// What an engine does.
    pub(super) fn kind_of(&self, engine: u32) -> Option<Engine> {
        self.engines.iter().find(|(_, number)| **number == engine).map(|((engine, _), _)| *engine)
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
        if matches!(engine, Engine::Bulk | Engine::BulkRead) {
            self.waits_for_map_reads(actor, done);
        }
    }

    /// Threads know that a warp's groups of `wgmma` are done, up to one.
    pub(crate) fn multiplied(&mut self, waiting: &[Actor], warp: Actor, done: u32) {
        let engine = self.engine(Engine::Matrix, warp);
        waiting.iter().for_each(|actor| self.state(*actor).known.ordered.raise_engine(engine, done));
    }
}
