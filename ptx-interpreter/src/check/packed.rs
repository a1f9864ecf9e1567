//! What a GPU is known to do otherwise than PTX says.

use super::actor::Actor;
use super::checks::{Checks, Found};
use super::finding::Kind;
use crate::memory::spaces::{Owner, owner};

impl Checks {
    /// A thread adds two floats in 32 bits to those at an address.
    pub(crate) fn adds_packed(&mut self, actor: Actor, site: u32, address: u64) {
        let Owner::Shared(block) = owner(address, self.cluster as usize).0 else { return };
        if block == actor.block as usize {
            return;
        }
        let what = format!("adds two floats to {}", self.place_of(address));
        self.find(Found {
            kind: Kind::Gpu,
            title: "two floats of 16 bits are added to others in the shared memory of another block by one atomic"
                .into(),
            places: vec![(actor, site, what)],
            notes: vec!["on an H100 this adds 32-bit integers; on the block's own memory it is right".into()],
            help: "add the halves one by one (`.f16`, `.bf16`), or let each block add to its own shared memory".into(),
            times: 1,
        });
    }
}
