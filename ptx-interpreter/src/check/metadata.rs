//! Metadata of sparse matrices.

use super::actor::Actor;
use super::checks::{Checks, Found};
use super::finding::Kind;
use super::titles::MEANINGLESS;

impl Checks {
    /// A warp multiplies elements that are nowhere, at one place, or not in their order. Of many products the first one is told.
    pub(crate) fn metadata_say_nothing(&mut self, actor: Actor, site: u32, bits: u32) {
        if *self.meaningless.get_or_insert(site) != site {
            return;
        }
        self.find(Found {
            kind: Kind::Launch,
            title: MEANINGLESS.into(),
            places: vec![(actor, site, "multiplies".into())],
            notes: vec![format!("they have {bits:#06b}, and what a GPU computes of that is undefined")],
            help: "name two places for the elements of each group, the lower one first, also where an element is zero"
                .into(),
            times: 1,
        });
    }
}
