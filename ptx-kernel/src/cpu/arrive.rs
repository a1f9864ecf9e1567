//! How a thread comes to the barriers of its block and of its cluster.

use std::panic::Location;

use ptx_intrinsics::on_cpu::{Brought, Coming};

use super::meeting::Barriers;
use super::place::{At, Barrier, Place, place, wait};

/// How an instruction is told from others: those that are not aligned are alike.
fn at(name: &'static str, at: Option<&'static Location<'static>>) -> At {
    at.map_or(At::Named("barrier"), |at| At::Called(name, at))
}

impl Place {
    pub(super) fn barriers(&self) -> &Barriers {
        &self.memory().blocks[self.rank as usize].barriers
    }

    /// Comes to a barrier of the block and waits there: what all bring.
    pub(crate) fn meet(&self, coming: Coming) -> Brought {
        let phase = self.barriers().count(&coming);
        let barrier = Barrier::Block { number: coming.number, phase, threads: coming.threads };
        wait(barrier, at(coming.name, coming.at));
        self.run.brought.get()
    }

    /// Arrives at a barrier of the block and goes on.
    pub(super) fn only_arrive(&self, coming: Coming) {
        self.barriers().count(&coming);
    }

    /// Arrives at the barrier of the cluster and goes on.
    pub(crate) fn arrive_at_cluster(&self, name: &str) {
        let phase = self.memory().phase.get();
        let before = self.run.arrived.replace(Some(phase));
        assert!(
            before.is_none(),
            "{name}: a thread arrives at its cluster's barrier, and has not waited since it arrived before"
        );
    }

    /// Waits until all threads of the cluster have arrived.
    pub(crate) fn wait_for_cluster(&self, name: &'static str, called: Option<&'static Location<'static>>) {
        let arrived = self.run.arrived.get();
        let arrived = arrived.unwrap_or_else(|| panic!("{name}: a thread waits for its cluster, and has not arrived"));
        if self.memory().phase.get() == arrived {
            wait(Barrier::Cluster, at(name, called));
        }
        self.run.arrived.set(None);
    }

    /// Whether the thread has arrived at the barrier of the cluster in that phase.
    pub(super) fn has_arrived(&self, phase: u64) -> bool {
        self.run.arrived.get() == Some(phase)
    }
}

/// All threads of the block come here: what they bring.
#[track_caller]
pub(crate) fn meet(name: &'static str, holds: Option<bool>) -> Brought {
    place().meet(Coming { name, at: Some(Location::caller()), number: 0, threads: None, holds })
}
