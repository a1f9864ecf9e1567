//! What the checks remember of a launch.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::actor::Actor;
use super::cause::Origin;
use super::clock::{Clock, Known, Pool};
use super::dependents::Dependents;
use super::discards::Discards;
use super::early::Early;
use super::fences::{DISTANCES, Fences};
use super::grids::{Grids, Peers};
use super::heads::Heads;
use super::history::History;
use super::map_reads::MapReads;
use super::mark::{Row, remove_range};
use super::shadow::{QuickMap, QuickTable, Shadow};
use super::threads::Threads;
use super::too_early::TooEarly;
use super::trail::Trail;
use crate::memory::alias::Alias;
use crate::memory::spaces::Named;
use crate::ptx::access::{Engine, How, Scope};
use crate::ptx::site::Sites;

use super::finding::Kind;
use super::pieces::Pieces;
use super::record::Record;
use super::visits::Lifetimes;

/// An access, or what a copy does for a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) actor: Actor,
    pub(crate) site: u32,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) how: How,
    /// The engine that does it, the epoch in which it will be done, and whether it is of the asynchronous proxy.
    pub(crate) engine: Option<(u32, u32, bool)>,
}

/// What would have been known, if an order had been stronger.
#[derive(Clone, Debug)]
pub(super) struct Missed {
    pub(super) known: Trail,
    pub(super) through: Through,
    pub(super) why: Lack,
    pub(super) writer: Actor,
    pub(super) write: u32,
    pub(super) read: u32,
    /// The epoch of its reader then.
    pub(super) epoch: u32,
    /// The bytes of the flag.
    pub(super) flag: Option<(u64, usize)>,
    /// What the flag hands over.
    pub(super) record: Option<Rc<Record>>,
}

/// What two threads meet at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    Flag,
    Mbarrier,
}

/// What an order lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    Release,
    ReleaseScope(Scope, Scope),
    AcquireScope(Scope, Scope),
    Acquire,
}

/// What a thread knows.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) epoch: u32,
    pub(super) known: Known,
    /// What is over, although nothing orders it: what others did before they arrived at an mbarrier for too narrow a scope, or before
    /// a phase was over that a relaxed wait waited for.
    pub(super) over: Clock,
    /// What comes before its `tcgen05` instructions.
    pub(super) tensor: Clock,
    /// The phases of the cluster's barrier that it has waited for.
    pub(super) met: u32,
    /// The phase at whose end it last arrived without a release, its epoch before that, and where.
    pub(super) relaxed: Option<(u32, u32, u32)>,
    /// Most threads have nothing of it.
    pub(super) strong: Option<Box<Strong>>,
    pub(super) missed: Vec<Missed>,
    pub(super) has_ended: bool,
    pub(super) passed: Passed,
}

/// The barriers that a thread has passed last, by their sites; 0 is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// Where it arrived last at a barrier of its block, and of its cluster.
    pub(super) arrived: [u32; 2],
    /// The last barrier that has brought its warp together, its block and its cluster. A wider one counts for the narrower ones too.
    pub(super) last: [u32; 3],
}

impl Passed {
    /// It has passed one that is so wide.
    pub(super) fn pass(&mut self, level: usize, site: u32) {
        self.last[..=level].fill(site);
    }
}

/// What fences and strong accesses of a thread have released and seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Strong {
    /// What a fence has released to the threads of its block, cluster, GPU or of all GPUs.
    pub(super) fenced: Released,
    /// What a fence has released to the whole system.
    pub(super) to_system: Option<Known>,
    /// What releases of a location have released: a later strong write there hands it over too.
    pub(super) released: QuickTable<(u64, usize), Released>,
    /// What strong reads have seen: a later fence acquires it.
    pub(super) observed: Heads,
    /// What strong reads of a location have seen: a later acquire there acquires it too.
    pub(super) observed_at: QuickTable<(u64, usize), Heads>,
}

/// What was released to the threads of a block, cluster, GPU or of all GPUs.
pub(super) type Released = [Option<Known>; DISTANCES];

/// A barrier in memory.
#[derive(Clone, Debug)]
pub(super) struct Mbarrier {
    pub(super) init: (Actor, u32, u32),
    /// Who has ended it by `mbarrier.inval`.
    pub(super) ended: Option<(Actor, u32, u32)>,
    /// Whether `fence.mbarrier_init` has released the initialisation to the cluster.
    pub(super) shown: bool,
    /// The phase of the cluster's barrier at which the initialising thread arrived after that.
    pub(super) told: Option<u32>,
    pub(super) phase: u32,
    pub(super) first_phase: u32,
    /// What the threads of its block and of other blocks have released, which arrived in this phase.
    pub(super) pool: [Pool; 2],
    /// The same of the phases before.
    pub(super) completed: [Known; 2],
    /// What fences of `tcgen05` have put before the arrivals, which need not release: of this phase, and of those before.
    pub(super) tensor: [Clock; 2],
    /// The last thread of another block that arrived.
    pub(super) far: Option<(Actor, u32)>,
    /// Arrivals that release nothing to those who wait, and what is over although it is not released: of this phase, and of those
    /// before.
    pub(super) weak: Vec<Missed>,
    pub(super) over: [Clock; 2],
    /// Bytes that are expected, less those of copies that were begun; who last told it of some, and who last began a copy.
    pub(super) balance: i64,
    /// Bytes that were told to be expected in a phase, and which phase that is.
    pub(super) expected: (i64, u32),
    pub(super) changed: [Option<(Actor, u32)>; 2],
    /// Bytes that threads have told it of, after which nobody has arrived; and who has arrived last.
    pub(super) owed: Vec<Owed>,
    pub(super) arrived: Option<(Actor, u32)>,
}

/// Bytes that a barrier expects, and nobody has arrived yet after whoever told it so.
#[derive(Clone, Debug)]
pub(super) struct Owed {
    pub(super) actor: Actor,
    pub(super) epoch: u32,
    pub(super) site: u32,
    /// What the phase expects, less what copies bring, without these bytes and all that comes after them.
    pub(super) others: i64,
}

/// The barrier of a cluster: what was released in this phase, and in those before, and how many these are.
#[derive(Default)]
pub(super) struct Meeting {
    pub(super) pool: Pool,
    pub(super) known: Known,
    pub(super) phases: u32,
}

/// A thread has seen that a request to cancel a launch cancelled nothing: who, in which epoch, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) actor: Actor,
    pub(super) epoch: u32,
    pub(super) site: u32,
}

/// What the checks remember of a launch.
pub(crate) struct Checks {
    /// Threads of a block, and blocks of a cluster.
    pub(super) threads: usize,
    pub(super) cluster: u32,
    pub(super) grids: Grids,
    pub(super) pieces: Arc<Pieces>,
    /// Other addresses of memory.
    pub(super) aliases: Rc<[Alias]>,
    /// The first address of the heap that no kernel before has had.
    pub(super) fresh: u64,
    /// What is known of the grids of other GPUs.
    pub(super) peers: Option<Box<Peers>>,
    /// Whether the grid before may still run, and what is used while it may.
    pub(super) has_grid_before: bool,
    pub(super) early: Option<Early>,
    /// What is in shared memory.
    pub(super) variables: Vec<Named>,
    /// Where the system's part of shared memory begins, if the module asks for it.
    pub(crate) reserved: Option<u64>,
    pub(super) discards: Discards,
    /// Where dynamic shared memory begins, if the launch has any.
    pub(crate) dynamic: Option<u64>,
    pub(super) sites: Arc<Sites>,
    pub(super) states: QuickMap<Threads<State>>,
    pub(crate) shadow: Shadow,
    /// Of each instruction the row in which most of a warp's lanes had their elements.
    pub(super) rows: Vec<Row>,
    /// Strong writes so far.
    pub(super) writes: u32,
    /// What loads may return, if not only the newest value.
    pub(super) history: Option<History<Rc<Record>>>,
    /// The fences that have an order among themselves.
    pub(super) sc: Fences,
    pub(super) engines: QuickTable<(Engine, Actor), u32>,
    pub(super) barriers: QuickTable<(u32, u32), Pool>,
    pub(super) clusters: HashMap<u32, Meeting>,
    pub(super) mbarriers: QuickMap<Mbarrier>,
    /// Where barriers are used that are none yet, and what is told of that.
    pub(super) too_early: TooEarly,
    /// What threads have seen of requests to cancel a launch, by the numbers of clusters.
    pub(super) refusals: HashMap<u32, Vec<Refusal>>,
    /// The product of a sparse matrix whose metadata said nothing first.
    pub(super) meaningless: Option<u32>,
    /// Threads that wait for a barrier in memory: where it is, the parity, and where they look at it.
    pub(crate) waits: HashMap<(u32, usize), (u64, Option<u32>, u32)>,
    pub(super) lifetimes: Lifetimes,
    pub(super) found: Vec<Found>,
    /// Whether what is read now goes to registers, and whether some of it has no value.
    pub(crate) brings_to_registers: bool,
    pub(crate) brings_unwritten: bool,
    /// The bytes of cells in which undefined values are stored.
    pub(crate) undefined: QuickMap<(u8, Origin)>,
    /// Reads of bytes that nobody has written, by their instructions.
    pub(super) unwritten: HashMap<u32, Found>,
    /// Loads that returned another value than the newest one, and stores that came before others, the first of each instruction.
    pub(crate) older: Vec<(Actor, u32, String)>,
    /// Whether threads have released something to the whole GPU, and acquired from it.
    pub(super) releases: bool,
    pub(super) acquires: bool,
    /// Whether a thread remembers an order that was too weak.
    pub(super) misses: bool,
    /// The next grid, if threads have let it begin.
    pub(super) dependents: Option<Dependents>,
    /// What the kernels know that threads have launched, if they have.
    pub(super) children: Option<Clock>,
    /// What the host knows once it has seen all that threads store for the whole system, if they do.
    pub(super) host: Option<Clock>,
    /// The tensor maps that copies have read, and their bytes.
    pub(super) maps: QuickMap<u64>,
    pub(super) map_reads: MapReads,
    /// Whether bytes are used and no mark tells it.
    pub(super) forgets: Cell<bool>,
    /// The barrier that both threads of a finding had passed last, by the sites of the two accesses; 0 if there is none.
    pub(crate) since: HashMap<(u32, u32), u32>,
    /// Where each finding is, and how far apart its threads are.
    pub(super) seen: HashMap<Key, (usize, usize)>,
}

/// What is one finding, by whatever calls its instructions are reached.
pub(super) type Key = (Kind, u32, u32);
/// The second instruction of what has one.
pub(super) const NONE: u32 = u32::MAX;

/// A finding, with the sites of its places.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) title: String,
    /// Who, at which site, and what it does there.
    pub(crate) places: Vec<(Actor, u32, String)>,
    pub(crate) notes: Vec<String>,
    pub(crate) help: String,
    pub(crate) times: u64,
}

impl Checks {
    pub(crate) fn new(
        (threads, cluster): (usize, usize),
        grids: Grids,
        pieces: Arc<Pieces>,
        variables: Vec<Named>,
        sites: Arc<Sites>,
    ) -> Checks {
        Checks {
            threads,
            cluster: cluster as u32,
            grids,
            peers: None,
            has_grid_before: pieces.iter().any(|piece| piece.shared_with_grid_before),
            early: None,
            pieces,
            aliases: Rc::default(),
            fresh: u64::MAX,
            variables,
            reserved: None,
            discards: Discards::default(),
            dynamic: None,
            sites,
            states: QuickMap::default(),
            shadow: Shadow::new(),
            rows: Vec::new(),
            writes: 0,
            history: None,
            sc: Fences::default(),
            engines: QuickTable::default(),
            barriers: QuickTable::default(),
            clusters: HashMap::new(),
            mbarriers: QuickMap::default(),
            too_early: TooEarly::default(),
            refusals: HashMap::new(),
            meaningless: None,
            waits: HashMap::new(),
            lifetimes: Lifetimes::default(),
            found: Vec::new(),
            brings_to_registers: false,
            brings_unwritten: false,
            undefined: QuickMap::default(),
            unwritten: HashMap::new(),
            older: Vec::new(),
            releases: false,
            acquires: false,
            misses: false,
            dependents: None,
            children: None,
            host: None,
            maps: QuickMap::default(),
            map_reads: MapReads::default(),
            forgets: Cell::new(false),
            since: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    /// The threads of a block.
    #[inline]
    pub(super) fn threads_of(&mut self, block: u32) -> &mut Threads<State> {
        let (count, peers) = (self.threads, &self.peers);
        let new = || {
            let known = peers.as_ref().map(|peers| peers.known_at_start(block)).unwrap_or_default();
            Threads::new(State { epoch: 1, known, ..State::default() }, count)
        };
        self.states.entry(block.into()).or_insert_with(new)
    }

    pub(super) fn state(&mut self, actor: Actor) -> &mut State {
        self.threads_of(actor.block).change(actor.number)
    }

    /// The same, of a thread that has done something.
    #[inline]
    pub(super) fn known_state(&self, actor: Actor) -> &State {
        &self.states[&u64::from(actor.block)][actor.number]
    }

    /// How many phases of a barrier are over.
    pub(crate) fn phases_over(&self, bar: u64) -> u32 {
        self.mbarriers.get(&bar).map_or(0, |bar| bar.phase - bar.first_phase)
    }

    pub(super) fn engine(&mut self, engine: Engine, actor: Actor) -> u32 {
        // A barrier is the same for all.
        let actor = if let Engine::Barrier(_) = engine { Actor { block: 0, number: 0 } } else { actor };
        let next = self.engines.len() as u32;
        *self.engines.entry((engine, actor)).or_insert(next)
    }

    pub(crate) fn find(&mut self, found: Found) {
        self.find_between(found, 0);
    }

    /// Whether both are the same instruction, by whatever calls they are reached.
    pub(crate) fn are_one(&self, one: u32, other: u32) -> bool {
        self.sites.instruction(one) == self.sites.instruction(other)
    }

    /// What is one finding: a kind, and one or two instructions.
    pub(super) fn key(&self, kind: Kind, one: u32, other: u32) -> Key {
        let [one, other] = [one, other].map(|site| if site == NONE { site } else { self.sites.instruction(site) });
        (kind, one.min(other), one.max(other))
    }

    /// Whether there is such a finding at two sites by threads that are as far apart. It was found once more.
    pub(super) fn is_known(&mut self, kind: Kind, (one, other): (u32, u32), distance: usize) -> bool {
        let known = self.seen.get(&self.key(kind, one, other));
        let known = known.filter(|(_, before)| distance <= *before).map(|(place, _)| *place);
        known.inspect(|place| self.found[*place].times += 1).is_some()
    }

    /// Notes a finding, or that it was found once more: the threads that are farthest apart are named.
    pub(super) fn find_between(&mut self, found: Found, distance: usize) {
        let site = |place: usize| found.places.get(place).map_or(NONE, |place| place.1);
        self.find_as(self.key(found.kind, site(0), site(1)), found, distance);
    }

    /// The same, of what is one finding by its kind and two sites.
    pub(super) fn find_as(&mut self, key: Key, found: Found, distance: usize) {
        match self.seen.get(&key) {
            Some((place, before)) => {
                let (place, times) = (*place, self.found[*place].times + 1);
                if distance > *before {
                    self.found[place] = found;
                    self.seen.insert(key, (place, distance));
                }
                self.found[place].times = times;
            }
            None => {
                self.seen.insert(key, (self.found.len(), distance));
                self.found.push(found);
            }
        }
    }

    /// Whether there is a finding of that kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.found.iter().any(|found| found.kind == kind)
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// What was found, each with the barrier that both threads of a pair of accesses had passed last.
    pub(crate) fn take(&mut self) -> Vec<(Found, Option<u32>)> {
        let since = |found: &Found| match found.places[..] {
            [(_, one, _), (_, other, _), ..] => {
                self.since.get(&(one, other)).or(self.since.get(&(other, one))).copied()
            }
            _ => None,
        };
        let with_since = |found: Found| {
            let since = since(&found);
            (found, since)
        };
        std::mem::take(&mut self.found).into_iter().map(with_since).collect()
    }

    /// The memory of blocks that have ended is forgotten.
    pub(crate) fn bury(&mut self, block: u32, shared: u64, bytes: u64) {
        self.forget_tensor(block);
        self.forget_idle(shared, bytes);
        self.unbalanced(shared, bytes, "at the end of the block a phase has ended too early or never");
        self.forget_refusals(block);
        self.overwritten_barriers(shared, bytes);
        self.lifetimes.bury(block);
        self.sc.bury(block);
        self.end_of_peer(block);
        self.states.remove(&u64::from(block));
        self.shadow.forget(shared, bytes);
        if let Some(history) = self.history.as_mut().filter(|_| bytes > 0) {
            history.forget(shared, bytes);
        }
        self.barriers.retain(|(of, _), _| *of != block);
        remove_range(&mut self.mbarriers, shared, bytes);
        self.waits.retain(|(of, _), _| *of != block);
    }
}
