//! Tensor memory of a pair of blocks: whoever frees it has to know that the other block's warps are done with their part of it.

use super::actor::Actor;
use super::checks::{Checks, Found};
use super::finding::Kind;
use super::marks::happened;
use super::visits::Columns;

fn overlap(one: &Columns, other: &Columns) -> bool {
    one.start < other.end && other.start < one.end
}

impl Checks {
    /// A warp, of which this is the first thread, loads or stores columns of its block.
    pub(crate) fn moves_in_pair(&mut self, first: Actor, site: u32, columns: Columns) {
        let epoch = self.state(first).epoch;
        let freed = self.lifetimes.pairs.freed.get(&first.block).into_iter().flatten();
        let freed = freed.clone().find(|(freed, ..)| overlap(freed, &columns)).map(|(_, actor, at)| (*actor, *at));
        if let Some(freed) = freed {
            self.freed_in_use((first, site), freed);
        }
        self.lifetimes.pairs.moves.insert((first, site, columns), epoch);
    }

    /// These threads of a warp free columns of their block and of another one.
    pub(crate) fn frees_in_pair(&mut self, warp: &[Actor], site: u32, peer: u32, columns: Columns) {
        let Some(first) = warp.first().copied() else { return };
        self.threads_of(first.block);
        let knows = |actor: &Actor, (mover, epoch): (Actor, u32)| {
            let state = self.known_state(*actor);
            happened(state, epoch, mover) || state.over.of_thread(mover.block, mover.number) >= epoch
        };
        let moves = self
            .lifetimes
            .pairs
            .moves
            .iter()
            .filter(|((mover, _, own), _)| mover.block == peer && overlap(own, &columns));
        let early = moves.filter(|((mover, ..), epoch)| !warp.iter().any(|actor| knows(actor, (*mover, **epoch))));
        let early =
            early.map(|((mover, at, _), _)| (*at, mover.number, *mover)).min_by_key(|(at, number, _)| (*at, *number));
        if let Some((at, _, mover)) = early {
            self.freed_in_use((mover, at), (first, site));
        }
        self.lifetimes.pairs.freed.entry(peer).or_default().push((columns, first, site));
    }

    /// Two blocks have new columns.
    pub(crate) fn allocated_in_pair(&mut self, blocks: [u32; 2], columns: &Columns) {
        self.lifetimes
            .pairs
            .moves
            .retain(|(actor, _, own), _| !blocks.contains(&actor.block) || !overlap(own, columns));
        for block in blocks {
            self.lifetimes.pairs.freed.entry(block).or_default().retain(|(freed, ..)| !overlap(freed, columns));
        }
    }

    fn freed_in_use(&mut self, (user, at): (Actor, u32), (freer, freed): (Actor, u32)) {
        // The same two instructions may be a finding of another kind of use too.
        let key = self.key(Kind::Async, freed, freed);
        let found = Found {
            kind: Kind::Async,
            title: "tensor memory of a pair of blocks is freed, and nothing tells that the other block is done with it"
                .into(),
            places: vec![
                (user, at, format!("loads or stores tensor memory of block {}", user.block)),
                (freer, freed, format!("frees it in the pair, for block {}", freer.block)),
            ],
            notes: vec!["PTX: there must be no concurrent accesses of tensor memory from the peer CTA when it is deallocated".into()],
            help: "after its last `tcgen05.wait` each block arrives at an mbarrier of the other one, or at the barrier of the cluster, and waits for that before `tcgen05.dealloc`".into(),
            times: 1,
        };
        self.find_as(key, found, 0);
    }
}
