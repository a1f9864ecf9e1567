//! Each thread has local memory of its own.

use super::checks::{Checks, Event, Found};
use super::finding::Kind;
use super::titles::FOREIGN;

impl Checks {
    /// A thread accesses byte `at` of the local memory of another one, which has that number in the grid.
    pub(crate) fn foreign(&mut self, event: Event, of: usize, at: u64) {
        let (block, thread) = (of / self.threads, of % self.threads);
        let verb = if event.how.writes { "writes" } else { "reads" };
        let what = format!(
            "{verb} {} bytes at byte {at} of the local memory of thread {thread} of block {block}",
            event.bytes
        );
        self.find(Found {
            kind: Kind::Bounds,
            title: FOREIGN.into(),
            places: vec![(event.actor, event.site, what)],
            notes: vec!["on a GPU the same address is in each thread's own local memory".into()],
            help: "hand on the value and not its address, by a shuffle or shared memory, or put the variable into shared memory"
                .into(),
            times: 1,
        });
    }
}
