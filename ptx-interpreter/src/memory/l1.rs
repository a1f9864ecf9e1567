//! The L1 of each block's multiprocessor, where a launch asks for one: what shows that an acquire is missing.

use std::collections::HashMap;

use crate::machine::Machine;
use crate::machine::group::Thread;
use crate::machine::launch::L1;
use crate::memory::spaces::{Owner, owner};
use crate::ptx::access::{How, Scope};

/// Whether a load looks into L1: what the threads of one block agree on does.
fn looks(how: How) -> bool {
    how.scope.is_none_or(|scope| scope == Scope::Block)
}

impl Machine<'_> {
    /// The cache through which a thread reaches that address.
    fn l1_at(&mut self, thread: Thread, address: u64) -> Option<&mut HashMap<u64, u8>> {
        let (is_global, block) = (
            matches!(owner(address, self.cluster).0, Owner::Outside | Owner::Module | Owner::Heap),
            self.block_of(thread),
        );
        self.l1.get_mut(block).filter(|_| is_global)
    }

    /// Whether every load returns the newest value.
    #[inline]
    pub(crate) fn loads_what_memory_holds(&self) -> bool {
        self.l1.is_empty() && self.weak.values.is_empty()
    }

    /// What a load finds where memory has this value.
    #[inline]
    pub(crate) fn found(&mut self, thread: Thread, address: u64, bytes: usize, how: How, value: u128) -> u128 {
        if self.l1.is_empty() || !looks(how) {
            return value;
        }
        let Some(l1) = self.l1_at(thread, address) else { return value };
        let mut found = value.to_le_bytes();
        for (at, byte) in (address..).zip(&mut found[..bytes]) {
            *byte = *l1.entry(at).or_insert(*byte);
        }
        u128::from_le_bytes(found)
    }

    /// A thread has written this: its L1 has it too, if it had the place.
    #[inline]
    pub(crate) fn wrote(&mut self, thread: Thread, address: u64, bytes: usize, value: u128) {
        if self.l1.is_empty() {
            return;
        }
        let Some(l1) = self.l1_at(thread, address) else { return };
        for (at, byte) in (address..).zip(&value.to_le_bytes()[..bytes]) {
            l1.entry(at).and_modify(|kept| *kept = *byte);
        }
    }

    /// Threads of a warp have acquired for a scope.
    pub(crate) fn acquired(&mut self, warp: usize, scope: Scope) {
        if scope > Scope::Block {
            self.empty_l1(warp / self.warps_of_block);
        }
    }

    pub(crate) fn empty_l1(&mut self, block: usize) {
        if self.launch.l1 == L1::Kept {
            self.l1[block].clear();
        }
    }
}
