//! Barriers in memory: what their phases order.

use super::actor::Actor;
use super::checks::{Checks, Lack, Mbarrier, Missed, Through};
use super::heads::Reach;
use super::mark::CELL;
use super::marks::happened;
use super::reach::scope_of;
use super::trail::{Link, Trail};
use super::weak_order::remember;
use crate::ptx::access::{Arrival, Engine, Scope};

impl Checks {
    /// The copies of a thread count at a barrier in memory.
    pub(crate) fn copied_at(&mut self, actor: Actor, place: u64, done: u32) {
        let engine = self.engine(Engine::Small, actor);
        if let Some(bar) = self.mbarriers.get_mut(&place) {
            bar.owed.clear();
            bar.pool[0].known.ordered.raise_engine(engine, done);
        }
    }

    pub(crate) fn init(&mut self, actor: Actor, place: u64, site: u32) {
        if let Some(by) = self.not_ended_before(actor, place) {
            self.second_init((actor, site), place, by);
        }
        let epoch = self.state(actor).epoch;
        // The phases of a new barrier come after those of one that was there before.
        let phase = self.mbarriers.get(&place).map_or(1, |old| old.phase + 1);
        self.mbarriers.insert(
            place,
            Mbarrier {
                init: (actor, epoch, site),
                ended: None,
                shown: false,
                told: None,
                phase,
                first_phase: phase,
                pool: Default::default(),
                completed: Default::default(),
                tensor: Default::default(),
                far: None,
                weak: Vec::new(),
                over: Default::default(),
                balance: 0,
                expected: (0, phase),
                changed: [None; 2],
                owed: Vec::new(),
                arrived: None,
            },
        );
    }

    /// `mbarrier.inval`: there is no barrier any more.
    pub(crate) fn end_barrier(&mut self, actor: Actor, place: u64, site: u32) {
        let epoch = self.state(actor).epoch;
        if let Some(bar) = self.mbarriers.get_mut(&place) {
            bar.ended = Some((actor, epoch, site));
        }
    }

    /// Who has ended a barrier before a thread uses it. What nothing orders is a race.
    pub(crate) fn ended_before(&mut self, actor: Actor, place: u64) -> Option<(Actor, u32)> {
        let end = self.mbarriers.get(&place)?.ended?;
        self.if_before(actor, end)
    }

    /// Who has initialised a barrier that nobody has ended, before a thread does something. What nothing orders is a race.
    fn not_ended_before(&mut self, actor: Actor, place: u64) -> Option<(Actor, u32)> {
        let init = self.mbarriers.get(&place).filter(|bar| bar.ended.is_none())?.init;
        self.if_before(actor, init)
    }

    /// Who has done something in an epoch, and where, if that comes before what a thread does now.
    fn if_before(&mut self, actor: Actor, (by, epoch, site): (Actor, u32, u32)) -> Option<(Actor, u32)> {
        (by == actor || happened(self.state(actor), epoch, by)).then_some((by, site))
    }

    /// Barriers that nobody has ended before their memory was used for something else, in the memory of a block that ends.
    pub(super) fn overwritten_barriers(&mut self, begin: u64, bytes: u64) {
        let alive =
            self.mbarriers.iter().filter(|(place, bar)| place.wrapping_sub(begin) < bytes && bar.ended.is_none());
        let mut written: Vec<_> = alive
            .filter_map(|(place, bar)| {
                let (init, _, site) = bar.init;
                let writes = [*place, place + CELL].into_iter().filter_map(|cell| self.shadow.last_write(cell));
                let by = writes.into_iter().find(|write| write.site != site)?;
                let lane = by.lanes.trailing_zeros() as usize;
                Some((*place, (init, site), (self.actor_of(&by, lane), by.site)))
            })
            .collect();
        written.sort_by_key(|(place, ..)| *place);
        written.into_iter().for_each(|(place, init, by)| self.overwritten_barrier(place, init, by));
    }

    /// The instruction that has initialised a barrier.
    pub(crate) fn init_of(&self, place: u64) -> Option<u32> {
        self.mbarriers.get(&place).map(|bar| bar.init.2)
    }

    pub(crate) fn is_barrier(&self, place: u64) -> bool {
        self.mbarriers.contains_key(&place)
    }

    pub(crate) fn arrive_at(&mut self, actor: Actor, site: u32, place: u64, owner: u32, arrival: Arrival) {
        let distance = self.distance(actor.block, owner);
        let Some(mut bar) = self.mbarriers.remove(&place) else { return };
        let state = self.state(actor);
        bar.is_arrived_at((actor, site), state);
        bar.tensor[0].join(&state.known.tensor);
        let is_wide = self.level(arrival.scope) >= distance;
        let why = if !arrival.releases {
            Some(Lack::Release)
        } else {
            (!is_wide).then(|| Lack::ReleaseScope(arrival.scope, scope_of(distance)))
        };
        let far = usize::from(distance > 0);
        let orders = if let Some(why) = why {
            let threads = self.threads;
            let state = self.state(actor);
            bar.over[0].join(&state.over);
            let epoch = state.epoch;
            let known = state.release(actor, threads);
            bar.over[0].join(&known.ordered);
            let fenced = state.strong.as_ref().and_then(|strong| strong.fenced[far].as_ref());
            let fenced = fenced.filter(|_| is_wide);
            if let Some(fenced) = fenced {
                bar.pool[far].add(fenced);
            }
            let orders = fenced.is_some();
            // What all threads did that arrived so.
            let same = bar.weak.iter().find(|weak| (weak.write, weak.why) == (site, why));
            let mut arrivals = same.map(|weak| weak.known.clone()).unwrap_or_default();
            arrivals.push(Link::new(known.ordered, actor, epoch), threads);
            let missed = Missed {
                known: arrivals,
                through: Through::Mbarrier,
                why,
                writer: actor,
                write: site,
                read: site,
                epoch: 0,
                flag: None,
                record: None,
            };
            remember(&mut bar.weak, missed);
            orders
        } else {
            self.add(&mut bar.pool[far], actor);
            true
        };
        if orders && distance > 0 {
            bar.far = Some((actor, site));
        }
        self.mbarriers.insert(place, bar);
    }

    /// A phase of a barrier is complete.
    pub(crate) fn turn(&mut self, place: u64) {
        let engine = self.engine(Engine::Barrier(place), Actor { block: 0, number: 0 });
        let Some(bar) = self.mbarriers.get_mut(&place) else { return };
        for (completed, pool) in bar.completed.iter_mut().zip(std::mem::take(&mut bar.pool)) {
            completed.join(&pool.known);
        }
        for [arrived, before] in [&mut bar.tensor, &mut bar.over] {
            before.join(&std::mem::take(arrived));
        }
        bar.completed[0].ordered.raise_engine(engine, bar.phase);
        bar.phase += 1;
        let (owed, arrived) = (std::mem::take(&mut bar.owed), bar.arrived);
        owed.iter().for_each(|owed| self.owed_too_late(place, owed, arrived));
    }

    /// A wait for a barrier has ended. What a thread of another block released is acquired by a wait for the cluster alone.
    pub(crate) fn after_wait(&mut self, actor: Actor, site: u32, place: u64, wait: Arrival) {
        let Some(bar) = self.mbarriers.remove(&place) else { return };
        let own = self.reach(actor, Scope::Block);
        self.misses |= !bar.weak.is_empty() || bar.far.is_some();
        let state = self.state(actor);
        let through = Through::Mbarrier;
        state.known.tensor.join(&bar.tensor[1]);
        state.over.join(&bar.over[1]);
        for weak in &bar.weak {
            state.miss(Missed { read: site, ..weak.clone() });
        }
        if wait.releases {
            state.known.join(&bar.completed[0]);
        } else {
            state.over.join(&bar.completed[0].ordered);
            state.strong().observed.put(own, &bar.completed[0]);
        }
        if let Some((writer, write)) = bar.far {
            let why = match wait.releases {
                true if wait.scope > Scope::Block => None,
                true => Some(Lack::AcquireScope(wait.scope, Scope::Cluster)),
                false => Some(Lack::Acquire),
            };
            match why {
                None => state.known.join(&bar.completed[1]),
                Some(why) => {
                    state.over.join(&bar.completed[1].ordered);
                    if why == Lack::Acquire && wait.scope > Scope::Block {
                        let from = Reach { block: writer.block, level: 1, ..own };
                        state.strong().observed.put(from, &bar.completed[1]);
                    }
                    let known = Trail::new(Link::new(bar.completed[1].ordered.clone(), actor, 0));
                    state.miss(Missed {
                        known,
                        through,
                        why,
                        writer,
                        write,
                        read: site,
                        epoch: 0,
                        flag: None,
                        record: None,
                    });
                }
            }
        }
        self.mbarriers.insert(place, bar);
    }
}
