//! Tensor memory: what has to be between two `tcgen05` instructions that use the same bytes of it.
//!
//! All of its accesses are asynchronous. `tcgen05.wait` ends a warp's own loads and stores, and the mbarrier of a
//! `tcgen05.commit` a thread's products and copies. Those of one thread are done in their order. Between two threads there is a
//! `tcgen05.fence::before_thread_sync`, what synchronizes the threads, and a `tcgen05.fence::after_thread_sync`.

use super::accesses::Conflict;
use super::actor::Actor;
use super::checks::{Checks, Event, Found};
use super::clock::Known;
use super::finding::Kind;
use super::mark::Mark;
use super::titles::{OFFSET_OF_BARRIER, OTHER_LANES, UNMARKED};
use crate::memory::spaces::{is_tensor, tensor_of};
use crate::memory::tensor::{COLUMNS, LANES, WORD};
use crate::ptx::access::{Engine, How};

impl Checks {
    /// A descriptor lacks what PTX says is always there. What a GPU does then is not said; products are computed as if it were.
    pub(crate) fn has_unmarked_descriptor(&mut self, actor: Actor, site: u32) {
        self.find(Found {
            kind: Kind::Launch,
            title: UNMARKED.into(),
            places: vec![(actor, site, "uses it".into())],
            notes: vec!["PTX asks for that number, and does not say what happens without it".into()],
            help: "set bit 46, and leave bits 47 and 48 at 0, as PTX's table of the descriptor for `tcgen05` has it"
                .into(),
            times: 1,
        });
    }

    /// `tcgen05.fence::before_thread_sync`
    pub(crate) fn before_thread_sync(&mut self, actor: Actor) {
        let known = &mut self.state(actor).known;
        known.tensor.join(&known.ordered);
    }

    /// `tcgen05.fence::after_thread_sync`
    pub(crate) fn after_thread_sync(&mut self, actor: Actor) {
        let state = self.state(actor);
        state.tensor.join(&state.known.tensor);
    }

    /// A thread begins a product or a copy, its so many-th one.
    pub(crate) fn begins_in_tensor(&mut self, actor: Actor, number: u32) -> u32 {
        let begin = self.engine(Engine::TensorBegin, actor);
        let state = self.state(actor);
        state.known.ordered.raise_engine(begin, number);
        state.tensor.raise_engine(begin, number);
        self.engine(Engine::Tensor, actor)
    }

    /// The engine of a thread's products and copies.
    pub(crate) fn products_of(&mut self, actor: Actor) -> u32 {
        self.engine(Engine::Tensor, actor)
    }

    /// What came before the products and copies of a thread.
    pub(crate) fn before_products(&mut self, actor: Actor) -> Known {
        self.state(actor).known.clone()
    }

    /// The products and copies of a thread are done, up to one, and so is what came before. A barrier is told.
    pub(crate) fn tensor_done(&mut self, actor: Actor, place: u64, before: &Known, done: u32) {
        let engine = self.engine(Engine::Tensor, actor);
        if let Some(bar) = self.mbarriers.get_mut(&place) {
            bar.owed.clear();
            bar.pool[0].add(before);
            bar.pool[0].known.ordered.raise_engine(engine, done);
            bar.tensor[0].raise_engine(engine, done);
        }
    }

    /// A warp loads or stores lanes that another warp reaches.
    pub(crate) fn names_other_lanes(&mut self, actor: Actor, site: u32, text: String) {
        self.find(Found {
            kind: Kind::Bounds,
            title: OTHER_LANES.into(),
            places: vec![(actor, site, "does it".into())],
            notes: vec![
                text,
                "it goes on with its own lanes, as a GPU does; code that is compiled for debugging (`nvcc -G`) ends there"
                    .into(),
            ],
            help: "let the address have the first lane of the warp: warp number `n` adds `(n % 4) << 21`".into(),
            times: 1,
        });
    }

    /// `tcgen05.commit` without `.shared::cluster` has an address that is an offset.
    pub(crate) fn commits_to_offset(&mut self, actor: Actor, site: u32, offset: u64) {
        self.find(Found {
            kind: Kind::Bounds,
            title: OFFSET_OF_BARRIER.into(),
            places: vec![(actor, site, format!("names address {offset:#x}"))],
            notes: vec![
                "PTX leaves undefined what an address outside of shared memory does; it goes on with the barrier at that offset, as a GPU does: ptxas 13.5 takes the low half of the address alone"
                    .into(),
            ],
            help: "write `.shared::cluster` behind `mbarrier::arrive::one`, or hand over a generic address".into(),
            times: 1,
        });
    }

    /// A warp has waited for its loads or stores.
    pub(crate) fn waited_in_tensor(&mut self, all: &[Actor], warp: Actor, engine: Engine, done: u32) {
        let engine = self.engine(engine, warp);
        for actor in all {
            let state = self.state(*actor);
            state.known.ordered.raise_engine(engine, done);
            state.tensor.raise_engine(engine, done);
        }
    }

    /// Columns are free again: whatever used them has to be over.
    pub(crate) fn free_columns(&mut self, actor: Actor, site: u32, begin: u64, columns: usize) {
        let own = |lane: usize| begin + (lane * COLUMNS * WORD) as u64;
        for address in (0..LANES).map(own) {
            self.access(Event { actor, site, address, bytes: columns * WORD, how: How::WRITE, engine: None });
        }
        self.unwritten_columns(begin, columns);
    }

    /// New columns have no values.
    fn unwritten_columns(&mut self, begin: u64, columns: usize) {
        for lane in 0..LANES {
            let begin = begin + (lane * COLUMNS * WORD) as u64;
            self.shadow.clear(begin, (columns * WORD) as u64);
        }
    }

    pub(super) fn forget_tensor(&mut self, block: u32) {
        let begin = tensor_of(block as usize, self.cluster as usize);
        self.shadow.forget(begin, (LANES * COLUMNS * WORD) as u64);
    }

    /// A block has ended and has not freed its columns.
    pub(crate) fn left_columns(&mut self, actor: Actor, site: u32, columns: usize) {
        let mut places = vec![(actor, site, format!("allocates {columns} columns"))];
        if let Some((actor, end)) = self.lifetimes.last.get(&actor.block) {
            places.push((*actor, *end, "ends, as the last of its block".into()));
        }
        self.find(Found {
            kind: Kind::Deadlock,
            title: "a block ends and has not freed its tensor memory".into(),
            places,
            notes: vec!["a block that allocates it later on the same SM waits forever".into()],
            help:
                "one warp executes `tcgen05.dealloc` with the same address and columns, after all others have used them"
                    .into(),
            times: 1,
        });
    }

    /// A register is used before the wait for the load that fills it: the first one of a load is told.
    pub(crate) fn too_early(&mut self, load: (Actor, u32), used: (Actor, u32)) {
        if self.is_known(Kind::Async, (load.1, load.1), 0) {
            return;
        }
        let found = Found {
            kind: Kind::Async,
            title: "a register is used before `tcgen05.ld` is known to have filled it".into(),
            places: vec![(load.0, load.1, "begins the load".into()), (used.0, used.1, "uses a register of it".into())],
            notes: vec![
                "the load is asynchronous: until `tcgen05.wait::ld` the register has any value".into(),
                "ptxas 13.5 lets the use wait for the load, which PTX does not promise".into(),
            ],
            help: "execute `tcgen05.wait::ld.sync.aligned` between them".into(),
            times: 1,
        };
        self.find_as(self.key(Kind::Async, load.1, load.1), found, 0);
    }

    /// Whether an access of tensor memory and one before it do not go together.
    pub(super) fn conflict_in_tensor(&self, old: &Mark, event: Event) -> Option<(Conflict, Actor)> {
        let (state, actor) = (self.known_state(event.actor), self.actor_of(old, 0));
        // What was waited for is over, also for a thread that an arrival without a release told of the wait.
        let is_ordered =
            |who: u32| [&state.known.ordered, &state.over].iter().any(|known| known.of_engine(who) >= old.epoch);
        let Some((engine, _, _)) = event.engine else {
            return (old.is_engine && !is_ordered(old.who)).then_some((Conflict::Async, actor));
        };
        let is_over = |who: u32| state.tensor.of_engine(who) >= old.epoch;
        if old.who == engine || is_over(old.who) {
            return None;
        }
        // Products and copies of two threads are done in the order in which they are begun.
        let begun = self.engines.get(&(Engine::TensorBegin, actor)).copied();
        let begun = begun.filter(|_| [old.who, engine].map(|one| self.kind_of(one)) == [Some(Engine::Tensor); 2]);
        if begun.is_some_and(is_over) {
            return None;
        }
        let conflict =
            if is_ordered(old.who) || begun.is_some_and(is_ordered) { Conflict::Fence } else { Conflict::Async };
        Some((conflict, actor))
    }

    /// The threads are ordered, and their `tcgen05` instructions are not.
    pub(super) fn without_fence(&self, old: &Mark, event: Event, found: &mut Found) {
        let released = &self.known_state(event.actor).known.tensor;
        let begun = self.engines.get(&(Engine::TensorBegin, self.actor_of(old, 0))).copied();
        let is_released = [Some(old.who), begun].into_iter().flatten().any(|who| released.of_engine(who) >= old.epoch);
        let (title, help) = match is_released {
            true => (
                "tensor memory is used after a synchronization of threads, and `tcgen05.fence::after_thread_sync` is not between",
                "execute `tcgen05.fence::after_thread_sync` after the wait or barrier and before the `tcgen05` instructions that rely on it",
            ),
            false => (
                "tensor memory is used before a synchronization of threads, and `tcgen05.fence::before_thread_sync` is not between",
                "execute `tcgen05.fence::before_thread_sync` after the `tcgen05` instructions and before the barrier or arrival that tells of them",
            ),
        };
        found.title = title.into();
        found.notes.push("the threads are ordered, but their asynchronous `tcgen05` instructions are not".into());
        found.help = help.into();
    }
}

/// Whether an engine is one of `tcgen05`.
pub(super) fn is_of_tensor(engine: Engine) -> bool {
    matches!(engine, Engine::Tensor | Engine::TensorLoad | Engine::TensorStore)
}

/// Where a byte of tensor memory is.
pub(super) fn in_tensor(block: usize, at: u64) -> String {
    let word = at as usize / WORD;
    format!("lane {}, column {} of the tensor memory of block {block}", word / COLUMNS, word % COLUMNS)
}

pub(super) fn unfinished_title(engine: Engine, address: u64, verb: &str) -> String {
    match engine {
        Engine::TensorLoad => format!("tensor memory is {verb} before `tcgen05.ld` is known to have read it"),
        Engine::TensorStore => format!("tensor memory is {verb} before `tcgen05.st` is known to have written it"),
        _ if is_tensor(address) => {
            format!("tensor memory is {verb} before `tcgen05.mma` or `tcgen05.cp` is known to be done with it")
        }
        _ => format!("a matrix is {verb} before `tcgen05.mma` or `tcgen05.cp` is known to have read it"),
    }
}

pub(super) fn unfinished_help(engine: Engine) -> &'static str {
    match engine {
        Engine::TensorLoad => {
            "the warp that loads executes `tcgen05.wait::ld.sync.aligned` first; for another thread then `tcgen05.fence::before_thread_sync`, a barrier and `tcgen05.fence::after_thread_sync`"
        }
        Engine::TensorStore => {
            "the warp that stores executes `tcgen05.wait::st.sync.aligned` first; for another thread then `tcgen05.fence::before_thread_sync`, a barrier and `tcgen05.fence::after_thread_sync`"
        }
        _ => {
            "the thread that began it executes `tcgen05.commit` to an mbarrier; wait for that phase first, and execute `tcgen05.fence::after_thread_sync` before other `tcgen05` instructions"
        }
    }
}
