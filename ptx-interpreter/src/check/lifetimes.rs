//! What has to be done before a block ends, and before a grid may touch what the grid before it writes.

use super::actor::Actor;
use super::checks::{Checks, Event, Found, NONE, Owed, State};
use super::clock::Clock;
use super::early::Early;
use super::finding::Kind;
use super::titles::{HANGS, NO_PEER, NO_WAIT_FOR_GRID, NOT_BEGUN, OUTLIVED};
use super::together::Together;
use super::uses::Use;
use super::visits::{Visit, Visitor};
use crate::machine::lanes::LANES;
use crate::memory::spaces::{Owner, is_shared, owner};
use crate::ptx::access::{Engine, Scope};

/// What to do about an address in the shared memory of a block that the thread cannot reach.
pub(crate) const OF_OTHER_BLOCK: &str = "hand on the value and not its address, by global memory: a block reaches its own shared memory, and that of its cluster";

impl Checks {
    /// An access to shared memory: that of another block, or by an engine, may come too late.
    pub(super) fn visit(&mut self, event: Event) {
        let Owner::Shared(block) = owner(event.address, self.cluster as usize).0 else { return };
        let block = block as u32;
        let by_engine = event.engine.filter(|(_, _, by_proxy)| *by_proxy || block != event.actor.block);
        let (visitor, epoch) = match by_engine {
            Some((engine, epoch, _)) => (Visitor::Engine(engine), epoch),
            None if block == event.actor.block => return,
            None => (Visitor::Thread(event.actor), self.state(event.actor).epoch),
        };
        if block / self.cluster != event.actor.block / self.cluster {
            return self.of_another_cluster(event);
        }
        if block != event.actor.block && !self.has_begun(block, event.actor) {
            self.not_begun(event);
        }
        let visit = Visit { actor: event.actor, epoch, address: event.address, writes: event.how.writes };
        let ended = self.lifetimes.ends.get(&block.into()).is_some_and(|(_, ended)| *ended == self.threads);
        if ended {
            self.outlived(block, visitor, event.site, visit);
        } else {
            let visits = self.lifetimes.visits.entry(block).or_default();
            let is_of_same = |old: &Visit| by_engine.is_some() && (old.actor, old.epoch) == (visit.actor, visit.epoch);
            // A copy reaches its bytes first, and then its barrier.
            if !visits.get(&(visitor, event.site)).is_some_and(is_of_same) {
                visits.insert((visitor, event.site), visit);
            }
        }
    }

    /// Whether a thread knows that another block of its cluster has begun.
    fn has_begun(&self, block: u32, actor: Actor) -> bool {
        let state = self.known_state(actor);
        state.met > 0 || (0..self.threads).any(|number| state.known.ordered.of_thread(block, number) > 0)
    }

    fn of_another_cluster(&mut self, event: Event) {
        let what = format!("accesses {}", self.place_of(event.address));
        self.find(Found {
            kind: Kind::Bounds,
            title: "the shared memory of a block is accessed that is not in the cluster of the thread".into(),
            places: vec![(event.actor, event.site, what)],
            notes: vec!["on a GPU the same address is in each block's own shared memory".into()],
            help: OF_OTHER_BLOCK.into(),
            times: 1,
        });
    }

    fn not_begun(&mut self, event: Event) {
        let what = format!("accesses {}", self.place_of(event.address));
        self.begins_too_late(NOT_BEGUN, (event.actor, event.site, what), vec![], "access");
    }

    /// A warp, of which this is the first thread, allocates tensor memory together with another block.
    pub(crate) fn allocates_in_pair(&mut self, first: Actor, site: u32, peer: u32) {
        self.threads_of(first.block);
        let end = (first.number + LANES).min(self.threads);
        let mut warp = (first.number..end).map(|number| Actor { number, ..first });
        if !warp.any(|actor| self.has_begun(peer, actor)) {
            let notes =
                vec!["PTX: with `.cta_group::2` the issuing warp must make sure that the peer CTA is launched".into()];
            let what = format!("allocates together with block {peer}");
            self.begins_too_late(NO_PEER, (first, site, what), notes, "allocation");
        }
    }

    fn begins_too_late(&mut self, title: &str, place: (Actor, u32, String), notes: Vec<String>, what: &str) {
        let help = format!(
            "put `barrier.cluster.arrive` and `barrier.cluster.wait` (cluster.sync()) before the first {what}, which all threads of the cluster execute"
        );
        self.find(Found { kind: Kind::Bounds, title: title.into(), places: vec![place], notes, help, times: 1 });
    }

    /// A thread ends.
    pub(crate) fn end(&mut self, actor: Actor, site: u32) {
        let state = self.state(actor);
        state.has_ended = true;
        let mut known = state.known.clone();
        known.ordered.join(&state.over);
        let (pool, ended) = self.lifetimes.ends.entry(actor.block.into()).or_default();
        pool.add(&known);
        *ended += 1;
        if *ended < self.threads {
            return;
        }
        self.lifetimes.last.insert(actor.block, (actor, site));
        let known = self.lifetimes.ends[&u64::from(actor.block)].0.known.ordered.clone();
        let visits = self.lifetimes.visits.remove(&actor.block).unwrap_or_default();
        let mut late: Vec<((Visitor, u32), Visit)> = visits
            .into_iter()
            .filter(|((visitor, _), visit)| match visitor {
                Visitor::Thread(other) => known.of_thread(other.block, other.number) < visit.epoch,
                Visitor::Engine(engine) => known.of_engine(*engine) < visit.epoch,
            })
            .collect();
        late.sort_by_key(|((_, site), visit)| (*site, visit.actor.block, visit.actor.number));
        for ((visitor, site), visit) in late {
            self.outlived(actor.block, visitor, site, visit);
        }
    }

    fn outlived(&mut self, block: u32, visitor: Visitor, site: u32, visit: Visit) {
        let place = self.place_of(visit.address);
        let verb = if visit.writes { "writes" } else { "reads" };
        let (kind, title, what, help) = match visitor {
            Visitor::Thread(_) => (
                Kind::Bounds,
                OUTLIVED,
                format!("accesses {place}"),
                "put `barrier.cluster.arrive` and `barrier.cluster.wait` (cluster.sync()) after the last access, which all threads of the cluster execute before they end",
            ),
            Visitor::Engine(_) if visit.writes => (
                Kind::Async,
                "a block ends before a copy into its shared memory is known to be done",
                format!("begins a copy that {verb} {place}"),
                "let the block wait for the mbarrier of every copy that it began, before it ends",
            ),
            Visitor::Engine(engine) if self.kind_of(engine) == Some(Engine::Matrix) => (
                Kind::Async,
                "a block ends before a product of matrices in its shared memory is known to be done",
                format!("begins a product (`wgmma`) that {verb} {place}"),
                "all of its warps execute `wgmma.commit_group.sync.aligned` and `wgmma.wait_group.sync.aligned 0` before they end",
            ),
            Visitor::Engine(engine) if matches!(self.kind_of(engine), Some(Engine::Barrier(_))) => (
                Kind::Async,
                "a block ends before a copy from its shared memory is known to be done",
                format!("begins a copy that {verb} {place}"),
                "the block that gets the bytes waits for their mbarrier, and then all execute `barrier.cluster.arrive`, a release, and `barrier.cluster.wait` (cluster.sync())",
            ),
            Visitor::Engine(engine) if self.kind_of(engine) == Some(Engine::Tensor) => (
                Kind::Async,
                "a block ends before a product or copy of `tcgen05` is known to have read its shared memory",
                format!("begins a product or copy (`tcgen05`) that {verb} {place}"),
                "the thread that began it executes `tcgen05.commit`, and the block waits for that mbarrier before it ends",
            ),
            Visitor::Engine(_) => (
                Kind::Async,
                "a block ends before a copy from its shared memory is known to be done",
                format!("begins a copy that {verb} {place}"),
                "the thread that began it executes `cp.async.bulk.commit_group` and `cp.async.bulk.wait_group.read 0` before it ends",
            ),
        };
        let mut places = vec![(visit.actor, site, what)];
        if let Some((actor, end)) = self.lifetimes.last.get(&block) {
            places.push((*actor, *end, "ends, as the last of its block".into()));
        }
        self.find(Found { kind, title: title.into(), places, notes: vec![], help: help.into(), times: 1 });
    }

    /// The grid before this one may still run.
    pub(crate) fn begins_early(&mut self) {
        self.has_grid_before = true;
        self.early = Some(Early::default());
    }

    /// `griddepcontrol.launch_dependents`: the next grid may begin.
    pub(crate) fn launch_dependents(&mut self, actor: Actor) {
        let level = self.level(Scope::Gpu);
        let fenced = self.state(actor).strong.as_ref().and_then(|strong| strong.fenced[level].clone());
        self.dependents.get_or_insert_default().add(actor.block, fenced.as_ref());
    }

    /// A thread launches a kernel, which comes after what the thread has done and knows.
    pub(crate) fn launches_kernel(&mut self, actor: Actor) {
        let threads = self.threads;
        let known = self.state(actor).release(actor, threads);
        self.children.get_or_insert_default().join(&known.ordered);
    }

    fn grid_before(&mut self) -> u32 {
        self.engine(Engine::Grid, Actor { block: 0, number: 0 })
    }

    /// `griddepcontrol.wait` has returned.
    pub(crate) fn after_grid(&mut self, actors: impl Iterator<Item = Actor>) {
        let mut after = Clock::default();
        after.raise_engine(self.grid_before(), 1);
        actors.for_each(|actor| self.state(actor).known.ordered.join(&after));
    }

    /// Whether threads that access memory may come before the end of the grid before this one.
    pub(super) fn may_be_early(&mut self, together: &Together<'_>) -> bool {
        if !self.has_grid_before {
            return false;
        }
        let engine = self.grid_before();
        let (lanes, warp) = (together.lanes, together.first / LANES);
        let threads = self.threads_of(together.block);
        let has_waited = |state: &State| state.known.ordered.of_engine(engine) > 0;
        threads.alike(warp, lanes, State::is_as) != lanes
            || !has_waited(&threads[together.first + lanes.trailing_zeros() as usize])
    }

    /// An access to what the grid before this one may still write.
    pub(super) fn of_the_grid_before(&mut self, event: Event) {
        if is_shared(event.address) {
            return;
        }
        let engine = self.grid_before();
        if self.threads_of(event.actor.block)[event.actor.number].known.ordered.of_engine(engine) > 0 {
            return;
        }
        if let Some(early) = &mut self.early {
            let is_strong = event.how.scope.is_some_and(|scope| scope >= Scope::Gpu);
            let how = Use::of(is_strong, event.how.writes);
            early.add((self.sites.instruction(event.site), how), event.address, event.bytes, event.actor);
        }
        let holds = |begin: u64, bytes: u64| event.address.wrapping_sub(begin) < bytes;
        if !self.pieces.iter().any(|piece| piece.shared_with_grid_before && holds(piece.begin, piece.bytes)) {
            return;
        }
        let what = format!("accesses {}", self.place_of(event.address));
        self.find(Found {
            kind: Kind::Order,
            title: NO_WAIT_FOR_GRID.into(),
            places: vec![(event.actor, event.site, what)],
            notes: vec!["under programmatic dependent launch the grid before may still run, and its writes may be missing".into()],
            help: "execute `griddepcontrol.wait` (cudaGridDependencySynchronize()) in every thread before its first access, or in one before a barrier".into(),
            times: 1,
        });
    }

    /// Bytes that a barrier in memory expects, less those of the copies that were begun for it.
    pub(crate) fn expect(&mut self, actor: Actor, site: u32, place: u64, bytes: i64) {
        let Some(mut bar) = self.mbarriers.remove(&place) else { return };
        let is_own = owner(place, self.cluster as usize).0 == Owner::Shared(actor.block as usize);
        let state = self.state(actor);
        bar.owed.iter_mut().for_each(|owed| owed.count(actor, state, bytes));
        // What is sent to another block comes later.
        if bytes > 0 && is_own {
            bar.owed.push(Owed { actor, epoch: state.epoch, site, others: bar.balance });
        }
        bar.balance += bytes;
        bar.changed[usize::from(bytes < 0)] = Some((actor, site));
        let before = if bar.expected.1 == bar.phase { bar.expected.0 } else { 0 };
        bar.expected = (before + bytes.max(0), bar.phase);
        self.mbarriers.insert(place, bar);
    }

    /// A producer may end with a stage that it expects bytes for and never fills: nobody waits for that phase any more.
    pub(crate) fn forget_idle(&mut self, begin: u64, bytes: u64) {
        let own = self.mbarriers.iter_mut().filter(|(place, _)| place.wrapping_sub(begin) < bytes);
        let idle = own.map(|(_, bar)| bar).filter(|bar| bar.expected == (bar.balance, bar.phase));
        idle.for_each(|bar| bar.balance = 0);
    }

    /// The bytes that barriers never got, or got too many of. `end` says when that is known.
    pub(crate) fn unbalanced(&mut self, begin: u64, bytes: u64, end: &str) {
        let own = self.mbarriers.iter().filter(|(place, bar)| place.wrapping_sub(begin) < bytes && bar.balance != 0);
        let mut wrong: Vec<_> = own.map(|(place, bar)| (*place, bar.balance, bar.changed)).collect();
        wrong.sort_by_key(|(place, ..)| *place);
        for (place, balance, [told, brought]) in wrong {
            let title = match balance > 0 {
                true => "a barrier expects more bytes than copies bring",
                false => "copies bring more bytes to a barrier than it expects",
            };
            let bar = self.place_of(place);
            let told = told.map(|(actor, site)| (actor, site, format!("tells the barrier at {bar} to expect bytes")));
            let brought = brought.map(|(actor, site)| (actor, site, format!("brings bytes to the barrier at {bar}")));
            self.find(Found {
                kind: Kind::Async,
                title: title.into(),
                places: told.into_iter().chain(brought).collect(),
                notes: vec![format!("the two differ by {} bytes: {end}", balance.abs())],
                help: "let `mbarrier.expect_tx` have the sum of the bytes of all copies of the phase".into(),
                times: 1,
            });
        }
    }

    /// All threads wait, and one of them for a barrier of which is told that it gets other bytes than it expects: that is the mistake. Says
    /// whether that is so.
    pub(crate) fn hangs_by_bytes(&mut self, place: u64, wait: &str) -> bool {
        let Some(bar) = self.mbarriers.get(&place).filter(|bar| bar.balance != 0) else { return false };
        let mut sites = bar.changed.into_iter().flatten().map(|(_, site)| site).chain([NONE; 2]);
        let key = self.key(Kind::Async, sites.next().unwrap_or(NONE), sites.next().unwrap_or(NONE));
        let Some((found, _)) = self.seen.get(&key) else { return false };
        self.found[*found].notes.push(format!("{HANGS}: one {wait}"));
        true
    }
}
