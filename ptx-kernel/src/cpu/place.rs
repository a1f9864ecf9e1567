//! Which thread of which block asks.

use std::cell::Cell;
use std::ptr::NonNull;

use corosensei::Yielder;

use super::launch::Dim3;
use super::memory::ClusterMemory;
use crate::WARP_SIZE;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The other threads of its warp.
    Warp,
    /// The other threads of its block.
    Block,
    /// The other threads of its cluster.
    Cluster,
    /// Whatever others do meanwhile.
    Turn,
}

/// A thread's place in its grid.
pub(crate) struct Place {
    pub(crate) thread: Dim3,
    pub(crate) block: Dim3,
    pub(crate) block_dim: Dim3,
    pub(crate) grid_dim: Dim3,
    /// The block's number in its cluster.
    pub(crate) rank: u32,
    /// How many blocks the cluster has.
    pub(crate) cluster: u32,
    /// The memory of the cluster that this thread belongs to.
    pub(super) memory: *const ClusterMemory,
    /// How this thread waits; set as it begins.
    pub(super) yielder: Cell<*const Yielder<(), Wait>>,
}

impl Place {
    /// The thread's number in its block.
    pub(super) fn in_block(&self) -> u32 {
        let (thread, dim) = (self.thread, self.block_dim);
        (thread.z * dim.y + thread.y) * dim.x + thread.x
    }

    /// The thread's number in its warp.
    pub(crate) fn lane(&self) -> u32 {
        self.in_block() % WARP_SIZE
    }

    pub(super) fn memory(&self) -> &ClusterMemory {
        // SAFETY: the cluster's memory outlives the cluster's threads.
        unsafe { &*self.memory }
    }
}

thread_local! {
    /// The thread of the grid that runs on this thread of the machine.
    static CURRENT: Cell<Option<NonNull<Place>>> = const { Cell::new(None) };
}

/// Makes this the thread that runs.
pub(super) fn enter(place: Option<&Place>) {
    CURRENT.set(place.map(NonNull::from));
}

/// The thread that asks.
///
/// # Panics
/// Outside of a kernel.
pub(crate) fn place<'a>() -> &'a Place {
    let place = CURRENT.get().expect(
        "this asks for the place of a GPU's thread, and no kernel runs here: start it with `ptx_kernel::cpu::Launch`",
    );
    // SAFETY: a place outlives its thread's turn, and the turn ends before anybody else asks on this machine's thread.
    unsafe { place.as_ref() }
}

/// Lets others go on until this is over.
pub(crate) fn wait(what: Wait) {
    let yielder = place().yielder.get();
    // SAFETY: it is this thread's own, and lives as long as the thread.
    unsafe { &*yielder }.suspend(what);
}

/// The values that the lanes of this warp bring; `None` of those that have ended or never were.
pub(crate) fn exchange(value: u32) -> [Option<u32>; WARP_SIZE as usize] {
    let place = place();
    let block = &place.memory().blocks[place.rank as usize];
    let warp = (place.in_block() / WARP_SIZE) as usize;
    block.lanes[warp][place.lane() as usize].set(Some(value));
    wait(Wait::Warp);
    let values = std::array::from_fn(|lane| block.lanes[warp][lane].get());
    // Nobody brings the next value before all have this one.
    wait(Wait::Warp);
    block.lanes[warp][place.lane() as usize].set(None);
    values
}
