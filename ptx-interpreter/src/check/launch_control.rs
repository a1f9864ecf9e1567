//! Requests to cancel the launch of a cluster: none comes after one that is seen to have failed.

use super::actor::Actor;
use super::checks::{Checks, Found, Refusal};
use super::finding::Kind;
use super::marks::happened;
use super::titles::{ASKS_AGAIN, NO_BLOCK};

impl Checks {
    /// A thread sees that a request of its cluster cancelled nothing.
    pub(crate) fn sees_refusal(&mut self, actor: Actor, site: u32) {
        let (cluster, epoch) = (actor.block / self.cluster, self.state(actor).epoch);
        let all = self.refusals.entry(cluster).or_default();
        // The first time is ordered before whatever the others are ordered before.
        if all.iter().all(|refusal| refusal.actor != actor) {
            all.push(Refusal { actor, epoch, site });
        }
    }

    /// A thread asks to cancel a launch.
    pub(crate) fn asks(&mut self, actor: Actor, site: u32) {
        self.threads_of(actor.block);
        let state = self.known_state(actor);
        let all = self.refusals.get(&(actor.block / self.cluster));
        let before = |refusal: &&Refusal| refusal.actor == actor || happened(state, refusal.epoch, refusal.actor);
        let Some(refusal) = all.into_iter().flatten().find(before).copied() else { return };
        self.find(Found {
            kind: Kind::Launch,
            title: ASKS_AGAIN.into(),
            places: vec![
                (refusal.actor, refusal.site, "sees that nothing was cancelled".into()),
                (actor, site, "asks again".into()),
            ],
            notes: vec!["what a GPU does then is undefined".into()],
            help: "leave the loop in all blocks of the cluster as soon as `is_canceled` is false".into(),
            times: 1,
        });
    }

    /// A thread takes the number of a block from a response that has none.
    pub(crate) fn has_no_block(&mut self, actor: Actor, site: u32) {
        self.find(Found {
            kind: Kind::Launch,
            title: NO_BLOCK.into(),
            places: vec![(actor, site, "takes the number of a block".into())],
            notes: vec!["what a GPU gives then is undefined".into()],
            help: "ask `clusterlaunchcontrol.query_cancel.is_canceled` first, and go on only if it is true".into(),
            times: 1,
        });
    }

    /// A block ends, and so does its cluster soon: nobody of it asks any longer.
    pub(super) fn forget_refusals(&mut self, block: u32) {
        if let Some(all) = self.refusals.get_mut(&(block / self.cluster)) {
            all.retain(|refusal| refusal.actor.block != block);
        }
    }
}
