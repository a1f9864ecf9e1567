//! Atomics of which `ptxas` loses the order.

use super::actor::Actor;
use super::checks::{Checks, Found};
use super::finding::Kind;

impl Checks {
    /// A thread changes its block's shared memory by an atomic with an order, of which the assembler makes a loop.
    pub(crate) fn loses_order(&mut self, actor: Actor, site: u32, address: u64) {
        let what = format!("changes {}", self.place_of(address));
        self.find(Found {
            kind: Kind::Gpu,
            title: "`ptxas` makes a loop of an atomic in shared memory, and leaves out its release or acquire".into(),
            places: vec![(actor, site, what)],
            notes: vec![
                "for sm_90 and newer there is no fence before the loop, and nothing after it discards what L1 has; here the order is that of the PTX"
                    .into(),
            ],
            help: "write `.relaxed`, with a fence of the same scope before it to release (`fence.acq_rel`, __threadfence()), and behind it to acquire"
                .into(),
            times: 1,
        });
    }
}
