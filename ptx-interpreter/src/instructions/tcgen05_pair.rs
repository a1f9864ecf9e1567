//! Which blocks a `tcgen05` instruction is for: one, or a pair of blocks of a cluster, whose numbers differ in the last bit.

use crate::machine::Machine;
use crate::machine::group::Thread;
use crate::machine::stop::{Result, wrong};

/// Whether the word says that a pair of blocks works together.
pub(super) fn in_pair(group: &str) -> Option<bool> {
    match group {
        "cta_group::1" => Some(false),
        "cta_group::2" => Some(true),
        _ => None,
    }
}

impl Machine<'_> {
    /// The blocks whose tensor memory an instruction is for: that of the thread, or its pair, the even one first.
    pub(crate) fn blocks_of_tensor(&self, thread: Thread, in_pair: bool) -> Result<Vec<usize>> {
        let block = self.block_of(thread);
        if !in_pair {
            return Ok(vec![block]);
        }
        let first = block - self.rank(block) as usize % 2;
        if self.cluster % 2 == 1 {
            return Err(wrong("the cluster has an odd number of blocks, and no pairs"));
        }
        Ok(vec![first, first + 1])
    }
}
