//! What is wrong with an access, in words: what is missing, and what to write instead.

use super::accesses::Conflict;
use super::actor::Actor;
use super::checks::{Checks, Event, Found, Missed, NONE, Through};
use super::finding::Kind;
use super::marks::happened;
use super::reach::scope_of;
use super::shadow::Mark;
use super::tensor::{is_of_tensor, unfinished_help, unfinished_title};
use super::titles::{BEGINS_EARLY, DIVERGENT, IN_A_BLOCK, IN_A_CLUSTER, IN_A_WARP, NARROW, READ_BEFORE_COPY};
use crate::memory::spaces::{Owner, is_shared, owner};
use crate::ptx::access::Engine;

impl Checks {
    pub(super) fn what(&self, event: Event, at: u64) -> String {
        let Event { how, bytes, .. } = event;
        let verb = match (how.reads, how.writes) {
            _ if how.discards => "discards",
            (true, true) => "changes",
            (false, true) => "writes",
            _ => "reads",
        };
        let by =
            event.engine.map(|(engine, _, _)| format!("begins a {} that ", self.work_of(engine))).unwrap_or_default();
        let at = at.max(event.address);
        format!("{by}{verb} {bytes} bytes, among them {}", self.place_by(how, at))
    }

    pub(super) fn what_was(&self, mark: &Mark) -> String {
        let verb = if mark.writes { "writes" } else { "reads" };
        match mark.is_engine {
            true => format!("begins a {} that {verb} it", self.work_of(mark.who)),
            false if mark.scope > 0 => format!("{verb} it, as a strong access"),
            false => format!("{verb} it"),
        }
    }

    /// What messages call the work of an engine.
    pub(super) fn work_of(&self, engine: u32) -> &'static str {
        match self.kind_of(engine) {
            Some(Engine::Matrix) => "product (`wgmma`)",
            Some(Engine::Tensor) => "product or copy (`tcgen05`)",
            Some(Engine::TensorLoad) => "load (`tcgen05.ld`)",
            Some(Engine::TensorStore) => "store (`tcgen05.st`)",
            _ => "copy",
        }
    }

    /// An access does not go the usual way: it reads an older value than the newest one, or what it stores is not the last.
    pub(crate) fn note_other_way(&mut self, event: Event, value: Option<u64>) {
        self.note(event, |bytes, place| match value {
            Some(value) => format!("loads {bytes} bytes at {place}, and gets the older value {value:#x}"),
            None => format!("stores {bytes} bytes at {place}, before what another thread has stored there"),
        });
    }

    /// An access is performed after what comes behind it.
    pub(crate) fn note_wait(&mut self, event: Event) {
        self.note(event, |bytes, place| format!("loads {bytes} bytes at {place}, after what it does behind that"));
    }

    /// Once for each instruction: most accesses are noted already.
    fn note(&mut self, event: Event, what: impl FnOnce(usize, String) -> String) {
        let Event { actor, site, address, bytes, .. } = event;
        if self.older.iter().all(|(_, other, _)| *other != site) {
            self.older.push((actor, site, what(bytes, self.place_of(address))));
        }
    }

    pub(super) fn of_unwritten(&self, event: Event, at: u64) -> Found {
        let what = self.what(event, at);
        if let Some((actor, site)) = self.discards.by(at) {
            return Found {
                kind: Kind::Uninitialised,
                title: "bytes are read that `discard` has left without a value".into(),
                places: vec![(actor, site, "discards them".into()), (event.actor, event.site, what)],
                notes: vec![],
                help: "discard only what is written again before anybody reads it".into(),
                times: 1,
            };
        }
        let is_stored = self.pieces.iter().any(|piece| piece.undefined.has_some_of(at, at + 1));
        let note = "a launch or a copy before has put there what it had read of such bytes";
        Found {
            kind: Kind::Uninitialised,
            title: "bytes are read that nobody has written".into(),
            places: vec![(event.actor, event.site, what)],
            notes: is_stored.then(|| note.into()).into_iter().collect(),
            help: "write them before, in every thread that needs them or by one thread and a barrier after it".into(),
            times: 1,
        }
    }

    pub(super) fn not_constant(&mut self, event: Event, other: (Actor, u32), read: bool) {
        let (this, that) = match read {
            true if event.how.cached => ("fetches it", "writes it"),
            true => ("reads it as constant", "writes it"),
            false => ("writes it", "reads it as constant"),
        };
        let title = "bytes that this grid writes are read as if it did not write them";
        let (note, help) = match event.how.cached {
            true => (
                "a fetch from a texture or a load from a surface may return old bytes, even after a barrier or an acquire",
                "let a kernel that is launched later fetch them, or keep them in memory that is read with plain `ld.global`",
            ),
            false => (
                match read {
                    true => "`ld.global.nc` and `ldu` may return old bytes, even after a barrier or an acquire",
                    false => "`ptxas` may move `ld.global.nc` behind a write of these bytes that comes later",
                },
                "read it with plain `ld.global`: no `__ldg`, no `const … __restrict__` on a pointer to it, nor a write of it through an inlined function's `__restrict__`",
            ),
        };
        let here = (event.actor, event.site, format!("{this}: {}", self.place_of(event.address)));
        self.find(Found {
            kind: Kind::Nc,
            title: title.into(),
            places: vec![(other.0, other.1, that.into()), here],
            notes: vec![note.into()],
            help: help.into(),
            times: 1,
        });
    }

    pub(super) fn conflicting(&mut self, conflict: Conflict, old: &Mark, actor: Actor, event: Event, at: u64) {
        let distance =
            if actor.is_in_warp_of(event.actor) { 0 } else { 1 + self.distance(actor.block, event.actor.block) };
        let never_met = matches!(conflict, Conflict::Async) && self.are_of_blocks_apart(old, actor, event);
        let kind = match conflict {
            Conflict::Async if never_met => Kind::Race,
            Conflict::Async => Kind::Async,
            Conflict::Race if event.engine.is_some() => Kind::Async,
            Conflict::Proxy | Conflict::Alias => Kind::Proxy,
            Conflict::Narrow | Conflict::Fence => Kind::Order,
            Conflict::Race if self.missed(old, actor, event).is_some() => Kind::Order,
            Conflict::Race if self.relaxed_arrival((actor, old.epoch), event.actor).is_some() => Kind::Order,
            Conflict::Race | Conflict::Lockstep => Kind::Race,
        };
        let init = if kind == Kind::Race { self.raced_init(old, event) } else { None };
        let sites = init.map_or((old.site, event.site), |init| (init, NONE));
        if self.is_known(kind, sites, distance) {
            return;
        }
        let places = vec![(actor, old.site, self.what_was(old)), (event.actor, event.site, self.what(event, at))];
        let mut found = Found { kind, title: String::new(), places, notes: vec![], help: String::new(), times: 1 };
        match conflict {
            Conflict::Async if never_met => {
                found.title =
                    "asynchronous copies of two blocks write the same bytes, and nothing orders the blocks".into();
                found.help =
                    "let each block write bytes of its own, add them (`cp.reduce.async.bulk`), or launch a second kernel".into();
            }
            Conflict::Async => self.unfinished(old, actor, event, &mut found),
            Conflict::Proxy => self.other_proxy(old, event, &mut found),
            Conflict::Alias => self.other_address(old, event, at, &mut found),
            Conflict::Fence => self.without_fence(old, event, &mut found),
            Conflict::Lockstep => {
                found.title =
                    "a thread reads by `volatile` what another one of its warp stores, and nothing orders them".into();
                found.notes.push(
                    "since sm_70 the threads of a warp need not go on together, and `volatile` does not wait".into(),
                );
                found.help = "put `__syncwarp()` between the two (`bar.warp.sync`), or exchange by a shuffle".into();
            }
            Conflict::Narrow => {
                let needed = scope_of(self.distance(actor.block, event.actor.block)).word();
                found.title = format!("{NARROW} than `.{needed}`");
                found
                    .notes
                    .push("strong accesses only go together if the scope of each includes the other thread".into());
                found.help = format!("write `.{needed}` as the scope of both");
            }
            Conflict::Race if event.engine.is_some() && !old.writes && self.written(at.max(event.address), 1) == 0 => {
                found.title = READ_BEFORE_COPY.into();
                found.notes.push("this time they are read before the copy has begun, and have no value".into());
                found.help = after_the_wait(actor, event.actor);
            }
            Conflict::Race if event.engine.is_some() => {
                let work = event.engine.map_or("copy", |(engine, _, _)| self.work_of(engine));
                found.title = format!("an asynchronous {work} {BEGINS_EARLY}");
                let barrier = barrier(actor, event.actor);
                found.help = format!(
                    "let the other thread arrive at a barrier after its access ({barrier}, or an mbarrier of empty stages), and wait for it before the copy"
                );
                // They may have met at an mbarrier that does not order them.
                if let Some((reader, missed)) = self.missed(old, actor, event) {
                    let title = std::mem::take(&mut found.title);
                    self.too_weak(missed, reader, (old, actor), event, &mut found);
                    found.title = title;
                }
            }
            Conflict::Race if init.is_some() => {
                let help = help(actor, event.actor, self.distance(actor.block, event.actor.block));
                self.unordered_init(event, help, &mut found);
            }
            Conflict::Race => self.race(old, actor, event, &mut found),
        }
        let since = self.passed_last(actor, event.actor);
        self.since.insert((old.site, event.site), since);
        match conflict {
            // Each step of a sum would be told.
            Conflict::Lockstep => self.find_as((kind, NONE, self.sites.function(event.site)), found, distance),
            _ => self.find_as(self.key(kind, sites.0, sites.1), found, distance),
        }
    }

    /// Whether copies of two blocks write the same bytes, and the thread that begins the later one knows nothing of the other thread.
    fn are_of_blocks_apart(&self, old: &Mark, actor: Actor, event: Event) -> bool {
        let both_write = old.writes && event.how.writes && event.engine.is_some();
        both_write && actor.block != event.actor.block && !happened(self.known_state(event.actor), 1, actor)
    }

    /// The threads are ordered, and the proxies are not.
    fn other_proxy(&self, old: &Mark, event: Event, found: &mut Found) {
        let fence = match is_shared(event.address) {
            true => "fence.proxy.async.shared::cta",
            false => "fence.proxy.async.global",
        };
        let (title, note, who) = match (old.writes, event.how.writes) {
            (true, false) => (
                "the asynchronous proxy reads bytes that were written through the generic proxy",
                "the threads are ordered, but without a proxy fence the old bytes may still be seen",
                "after its writes, before the barrier or flag",
            ),
            (true, true) => (
                "the asynchronous proxy overwrites bytes that were written through the generic proxy",
                "the threads are ordered, but without a proxy fence the older write may come last",
                "after its writes, before the barrier or flag",
            ),
            _ => (
                "the asynchronous proxy overwrites bytes that were read through the generic proxy",
                "the threads are ordered, but without a proxy fence the copy may write before the read is done",
                "after its reads, before it arrives",
            ),
        };
        found.title = title.into();
        found.notes.push(note.into());
        let work = event.engine.map_or("copy", |(engine, _, _)| self.work_of(engine));
        found.help = format!(
            "let each of these threads execute `{fence}` (cuda::ptx::fence_proxy_async) {who}, or the thread that begins \
             the {work} between its wait and that"
        );
    }

    /// The earlier access is by a copy that may not be done.
    fn unfinished(&mut self, old: &Mark, actor: Actor, event: Event, found: &mut Found) {
        let kind = self.kind_of(old.who);
        let issuer_knows = actor != event.actor && {
            self.state(actor);
            self.known_state(actor).known.ordered.of_engine(old.who) >= old.epoch
        };
        let verb = if event.how.writes { "written" } else { "read" };
        let work = self.work_of(old.who);
        let side = if old.writes { "the destination" } else { "the source" };
        found.title = match kind {
            Some(Engine::Matrix) => format!("a matrix is {verb} before `wgmma` is known to have read it"),
            Some(kind) if is_of_tensor(kind) => unfinished_title(kind, event.address, verb),
            _ => format!("{side} of an asynchronous copy is {verb} before the copy is known to be done"),
        };
        // They may have met at an mbarrier that does not order them.
        let is_over =
            |missed: &Missed| missed.through == Through::Mbarrier && missed.known.of_engine(old.who) >= old.epoch;
        if let Some((reader, missed)) = self.missed_of(event, &is_over) {
            let title = std::mem::take(&mut found.title);
            self.too_weak(missed, reader, (old, actor), event, found);
            found.title = title;
            return;
        }
        if issuer_knows {
            found.notes.push(format!(
                "the thread that began the {work} has waited for it, and nothing orders that before this access"
            ));
            found.help = after_the_wait(actor, event.actor);
            return;
        }
        found.help = match kind {
            Some(Engine::Small) => "wait first: `cp.async.commit_group`, then `cp.async.wait_group N` where at most N newer groups are left (0 waits for all), then a barrier if other threads use the bytes".into(),
            Some(Engine::Bulk | Engine::BulkRead) if old.writes => "wait first: `cp.async.bulk.commit_group`, then `cp.async.bulk.wait_group 0` (without `.read`), and a release to those who read".into(),
            Some(Engine::Bulk | Engine::BulkRead) => "wait first: `cp.async.bulk.commit_group`, then `cp.async.bulk.wait_group.read 0`, then a barrier if another thread overwrites it".into(),
            Some(kind) if is_of_tensor(kind) => unfinished_help(kind).into(),
            Some(Engine::Matrix) => "wait first: `wgmma.commit_group.sync.aligned`, then `wgmma.wait_group.sync.aligned N` where at most N newer groups are left (0 waits for all), then a barrier if another thread overwrites it".into(),
            _ if event.engine.is_some() && event.how.writes => "let all threads that use what the first copy brings wait for it, and arrive at a barrier after that (an mbarrier of empty stages); wait for \
                  that barrier before the next copy to the same place".into(),
            _ => "wait for the phase of its mbarrier first: `mbarrier.try_wait.parity` with the parity of this phase, in every thread that uses the bytes".into(),
        };
        match kind {
            Some(Engine::Barrier(_)) => found.notes.push(
                "no wait of this thread has seen the phase in which the copy ends; a wait with the wrong parity returns at once"
                    .into(),
            ),
            Some(kind) if is_of_tensor(kind) => {}
            _ => found.notes.push(format!("no group with this {work} has been waited for: too many groups may be left, or it was never committed")),
        }
        if matches!(kind, Some(Engine::Small | Engine::Bulk | Engine::BulkRead)) && actor != event.actor {
            found.notes.push(format!("only the thread that began the {work} can wait for its groups"));
            if old.writes && !event.how.writes {
                found.help += "; or, if this reads what an earlier copy has brought, put a barrier between the read and this copy";
            }
        }
    }

    fn race(&self, old: &Mark, actor: Actor, event: Event, found: &mut Found) {
        let one_weak = (old.scope > 0) != event.how.scope.is_some();
        if let Some((reader, missed)) = self.missed(old, actor, event) {
            self.too_weak(missed, reader, (old, actor), event, found);
            return;
        }
        if let Some(site) = self.relaxed_arrival((actor, old.epoch), event.actor) {
            found.title = "threads meet at the barrier of their cluster, and one arrives without a release".into();
            found.places.push((actor, site, "arrives at the barrier".into()));
            found.notes.push("a relaxed arrival orders nothing that its thread has done before".into());
            found.help =
                "write `barrier.cluster.arrive.release`, or put `fence.acq_rel.cluster` before the arrival, or after `mbarrier.init` `fence.mbarrier_init.release.cluster`".into();
            return;
        }
        found.title = match (old.writes, event.how.writes) {
            (true, true) => "two threads write the same bytes, and nothing orders them",
            (true, false) => "a thread reads bytes that another writes, and nothing orders them",
            _ => "a thread writes bytes that another reads, and nothing orders them",
        }
        .into();
        if one_weak {
            found.notes.push(
                "one of the two is a weak access, the other a strong one: together they race as two weak ones do"
                    .into(),
            );
        }
        if old.scope > 0 && event.how.scope.is_some() {
            found.notes.push(
                "both are strong accesses, and of different bytes: only those of the same bytes go together".into(),
            );
        }
        if actor.block == event.actor.block && self.known_state(actor).has_ended {
            found.notes.push(format!(
                "thread {} has ended: a barrier that it did not come to does not order what it did",
                actor.number
            ));
        }
        let is_one_store = old.writes && event.how.writes && self.are_one(old.site, event.site);
        found.help = match is_one_store {
            true => "let one thread store it, or give each thread bytes of its own; if the stores are of different turns of a loop, put a barrier between them".into(),
            false => help(actor, event.actor, self.distance(actor.block, event.actor.block)),
        };
        let is_of_module = owner(event.address, self.cluster as usize).0 == Owner::Module;
        if is_of_module && actor.block != event.actor.block {
            found.notes.push("a variable of the module is one for all blocks".into());
            found.help += "; if each block is to have its own, make it `__shared__`";
        }
        if !is_one_store {
            self.told_by_another(old, actor, event, found);
        }
    }

    /// Threads of a warp have met at different instructions, which belong to one barrier.
    pub(crate) fn divergent(&mut self, one: (Actor, u32), other: (Actor, u32)) {
        let what = |at: (Actor, u32)| (at.0, at.1, "waits at the barrier here".to_owned());
        self.find(Found {
            kind: Kind::Deadlock,
            title: DIVERGENT.into(),
            places: vec![what(one), what(other)],
            notes: vec![
                "an aligned barrier has to be executed by all threads of a warp together, or they wait forever".into(),
            ],
            help: "move the barrier out of the branch, so that all threads execute the same one".into(),
            times: 1,
        });
    }
}

/// The barrier that two threads can meet at.
fn barrier(one: Actor, other: Actor) -> &'static str {
    if one.is_in_warp_of(other) { "`bar.warp.sync`, __syncwarp()" } else { "`bar.sync`, __syncthreads()" }
}

/// What makes a copy known that only the thread which began it has waited for.
fn after_the_wait(one: Actor, other: Actor) -> String {
    let apart = if one.is_in_warp_of(other) { "" } else { "; an mbarrier where warps do different work" };
    format!("after the wait, put a barrier ({}{apart}) before other threads use the bytes", barrier(one, other))
}

fn help(one: Actor, other: Actor, distance: usize) -> String {
    match distance {
        _ if one.is_in_warp_of(other) => {
            IN_A_WARP.into()
        }
        0 => IN_A_BLOCK.into(),
        1 => IN_A_CLUSTER.into(),
        2 => "let the first release a flag (`st.release.gpu`) and the second acquire it (`ld.acquire.gpu`), use an atomic, or launch a second kernel".into(),
        _ => "let the first release a flag for the whole system (`st.release.sys`) and the second acquire it (`ld.acquire.sys`), or let the second GPU wait for an event".into(),
    }
}
