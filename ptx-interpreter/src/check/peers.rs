//! A launch on several GPUs, beside which other work is ordered with each GPU apart: what came before it on one of them need not come before
//! it on another one, and what comes after it on one of them need not come after all of it.

use super::actor::Actor;
use super::checks::{Checks, Event, Found};
use super::clock::{Clock, Known};
use super::dependents::knows;
use super::finding::Kind;
use super::grids::{Before, Peers};
use super::mark::Mark;
use super::uses::Use;
use crate::memory::spaces::{Owner, owner};
use crate::ptx::access::{Engine, Scope};

impl Checks {
    /// The launch runs on several GPUs.
    pub(crate) fn know_peers(&mut self, before: &[Before]) {
        let count = self.grids.count();
        let start = |grid: usize| {
            let engine = self.engine(Engine::Before, Actor { block: 0, number: grid });
            let mut known = Known::default();
            known.ordered.raise_engine(engine, 1);
            (engine, known)
        };
        let starts = (0..count).map(start).collect();
        let (grids, ends) = (self.grids.clone(), vec![Clock::default(); count]);
        let unknown_to = |grid: usize| {
            let mut own: Vec<Before> = before.iter().filter(|before| before.unknown_to == grid).copied().collect();
            own.sort_by_key(|before| before.begin);
            own
        };
        let before = (0..count).map(unknown_to).collect();
        self.peers = Some(Box::new(Peers { grids, starts, ends, before }));
    }

    /// The threads of a block have ended.
    pub(super) fn end_of_peer(&mut self, block: u32) {
        let Some(peers) = &mut self.peers else { return };
        let grid = peers.grids.of(block);
        if let Some(threads) = self.states.get(&u64::from(block)) {
            (0..self.threads).for_each(|number| peers.ends[grid].join(&threads[number].known.ordered));
        }
    }

    /// Whose grid an access is of, and a bit for each grid that has not ended before it.
    pub(super) fn grid_of(&self, mark: &Mark, cell: u64) -> (usize, u32) {
        let Some(peers) = &self.peers else { return (0, 1) };
        let mark = &Mark { lanes: mark.lanes_at(cell), ..*mark };
        let first = self.actor_of(mark, 0);
        let own = peers.grids.of(first.block);
        let ends = peers.ends.iter().enumerate();
        let met = ends.filter(|(grid, end)| *grid == own || knows(end, mark, first));
        (own, met.fold(0, |met, (grid, _)| met | 1 << grid))
    }

    /// An access to what came before another GPU's grid, and maybe not before this one.
    pub(super) fn comes_after_peers(&mut self, event: Event) {
        self.threads_of(event.actor.block);
        let Some(peers) = &self.peers else { return };
        if owner(event.address, 1).0 != Owner::Outside {
            return;
        }
        let how = Use::of(event.how.scope == Some(Scope::System), event.how.writes);
        let grid = peers.grids.of(event.actor.block);
        let known = &self.known_state(event.actor).known.ordered;
        let (begin, end) = (event.address, event.address + event.bytes as u64);
        let is_missed =
            |before: &&Before| before.how.conflicts_with(how) && known.of_engine(peers.starts[before.known_to].0) == 0;
        let all = &peers.before[grid];
        let near = &all[all.partition_point(|before| before.end <= begin)..];
        let mut near = near.iter().take_while(|before| before.begin < end);
        let Some(before) = near.find(is_missed).copied() else { return };
        let verb = if event.how.writes { "writes" } else { "reads" };
        let did = if before.how.writes() { "written" } else { "read" };
        let place = self.place_of(event.address);
        self.find(Found {
            kind: Kind::Order,
            title: format!("a thread {verb} what earlier work of another GPU has {did}, and nothing orders the two"),
            places: vec![(event.actor, event.site, format!("{verb} {} bytes of {place}", event.bytes))],
            notes: vec![
                "that work comes before the same kernel on the other GPU; nothing that a thread of that kernel has released for the whole \
                 system was acquired before this"
                    .into(),
            ],
            help: "let a thread of the other GPU release a flag for the whole system (`st.release.sys`, or __threadfence_system() before \
                   it), and acquire that flag before this access; or let the streams wait for an event"
                .into(),
            times: 1,
        });
    }
}
