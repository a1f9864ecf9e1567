//! Shared memory on a CPU.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU32;

use super::limits::check_shared;
use super::meeting::Barriers;
use crate::WARP_SIZE;

/// What a kernel finds in shared memory that it does not write.
const POISON: u8 = 0xa5;

/// What the blocks of a cluster share. Its threads take turns, so nothing here is used by two at a time.
pub(super) struct ClusterMemory {
    pub(super) blocks: Vec<BlockMemory>,
    /// The block at which the next cluster of the grid begins, if there is one.
    pub(super) next: *const AtomicU32,
    /// How often all of its threads have arrived.
    pub(super) phase: Cell<u64>,
}

impl ClusterMemory {
    /// The place in a block's shared memory that corresponds to one in that of the block `own`.
    pub(super) fn in_block(&self, own: u32, address: *mut u8, rank: u32) -> *mut u8 {
        let blocks = &self.blocks;
        assert!((rank as usize) < blocks.len(), "a cluster of {} blocks has no block {rank}", blocks.len());
        let found = blocks[own as usize].find(address);
        let (key, layout, offset) =
            found.expect("the place is in no variable of this block's shared memory that was used before");
        blocks[rank as usize].variable(key, layout).wrapping_add(offset)
    }
}

/// What the threads of a block share.
pub(super) struct BlockMemory {
    /// Values that lanes exchange, by warps.
    pub(super) lanes: Vec<[Cell<Option<u64>>; WARP_SIZE as usize]>,
    pub(super) barriers: Barriers,
    variables: RefCell<Vec<Variable>>,
    pub(super) dynamic: usize,
}

/// A variable in shared memory.
struct Variable {
    /// Which one: the address of its variable in the program. Null for dynamic shared memory.
    key: *const u8,
    memory: *mut u8,
    layout: Layout,
}

impl Drop for Variable {
    fn drop(&mut self) {
        // SAFETY: it was allocated so.
        unsafe { dealloc(self.memory, self.layout) }
    }
}

impl BlockMemory {
    pub(super) fn new(threads: u32, dynamic: usize) -> BlockMemory {
        let lanes = (0..threads.div_ceil(WARP_SIZE)).map(|_| Default::default()).collect();
        BlockMemory { lanes, barriers: Barriers::default(), variables: RefCell::default(), dynamic }
    }

    /// The variable of that key, which the first to ask brings into being.
    pub(super) fn variable(&self, key: *const u8, layout: Layout) -> *mut u8 {
        let mut variables = self.variables.borrow_mut();
        if let Some(variable) = variables.iter().find(|variable| variable.key == key) {
            return variable.memory;
        }
        let taken = |variable: &Variable| if variable.key.is_null() { 0 } else { variable.layout.size() };
        let before: usize = variables.iter().map(taken).sum();
        check_shared(before + if key.is_null() { 0 } else { layout.size() }, self.dynamic);
        // SAFETY: no layout here is of size 0, and the memory is that long.
        let memory = unsafe {
            let memory = alloc(layout);
            assert!(!memory.is_null(), "no memory for {} bytes of shared memory", layout.size());
            memory.write_bytes(POISON, layout.size());
            memory
        };
        variables.push(Variable { key, memory, layout });
        memory
    }

    /// The bytes of the variables that some thread has asked for, and of dynamic shared memory.
    pub(super) fn bytes(&self) -> usize {
        let variables = self.variables.borrow();
        self.dynamic + variables.iter().filter(|one| !one.key.is_null()).map(|one| one.layout.size()).sum::<usize>()
    }

    /// The variable in which this address is, and how far into it.
    fn find(&self, address: *const u8) -> Option<(*const u8, Layout, usize)> {
        let variables = self.variables.borrow();
        variables.iter().find_map(|variable| {
            let offset = (address as usize).checked_sub(variable.memory as usize)?;
            (offset < variable.layout.size()).then_some((variable.key, variable.layout, offset))
        })
    }
}
