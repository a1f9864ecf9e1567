//! The registers that a product of `wgmma` reads.

use super::actor::Actor;
use super::checks::{Checks, Found};
use super::finding::Kind;

impl Checks {
    /// A register is written that a product of an earlier turn of a loop may still read, or that is moved to such a one later.
    pub(crate) fn overwrites_factor(&mut self, actor: Actor, product: u32, write: u32, is_moved: bool) {
        let (kind, note) = match is_moved {
            false => (Kind::Async, "ptxas 13.5 keeps them within one turn of a loop, and not in the next one"),
            true => (
                Kind::Gpu,
                "this one is only moved to one of them after the wait, as PTX allows; ptxas 12.9 to 13.2 may make the two one register",
            ),
        };
        self.find(Found {
            kind,
            title: "a register is overwritten before `wgmma` is known to have read it".into(),
            places: vec![
                (actor, product, "begins the product that reads it".into()),
                (actor, write, "writes it in a later turn of the loop".into()),
            ],
            notes: vec!["until `wgmma.wait_group` the registers of a factor may not be written".into(), note.into()],
            help: "execute `wgmma.wait_group.sync.aligned 0` between them".into(),
            times: 1,
        });
    }
}
