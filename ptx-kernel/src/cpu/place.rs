//! Which thread of which block asks.

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::LazyLock;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use corosensei::Yielder;
use ptx_intrinsics::on_cpu::{Brought, Coming, Copies, Thread};

use super::dim3::Dim3;
use super::limits::check_kernel;
use super::memory::ClusterMemory;
use super::spin::Spin;
use crate::WARP_SIZE;

/// Who a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// The other threads of its warp.
    Warp,
    /// The threads of its warp whose bits are set: not all of them.
    Lanes(u32),
    /// The other threads of its block, or those that come to a barrier, by its number and phase.
    Block { number: u32, phase: u64, threads: Option<u32> },
    /// The other threads of its cluster.
    Cluster,
    /// Whatever others do meanwhile.
    Turn,
}

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Barrier::Warp => write!(f, "its warp"),
            Barrier::Lanes(mask) => write!(f, "lanes {mask:#010x} of its warp"),
            Barrier::Block { number: 0, threads: None, .. } => write!(f, "its block"),
            Barrier::Block { number, threads: None, .. } => write!(f, "its block at barrier {number}"),
            Barrier::Block { number, threads: Some(threads), .. } => {
                write!(f, "{threads} threads of its block at barrier {number}")
            }
            Barrier::Cluster => write!(f, "its cluster"),
            Barrier::Turn => write!(f, "its turn"),
        }
    }
}

/// The instruction at which a thread waits, as far as all threads of its warp have to come to the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Any of this name: an exchange of a warp.
    Named(&'static str),
    /// The one of this name that is called there: a barrier.
    Called(&'static str, &'static Location<'static>),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Named(name) => write!(f, "{name}"),
            At::Called(name, place) => write!(f, "{name} at {place}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) barrier: Barrier,
    pub(crate) at: At,
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
    /// What changes while the thread runs.
    pub(super) run: Run,
}

#[derive(Default)]
pub(super) struct Run {
    /// How this thread waits; set as it begins.
    pub(super) yielder: Cell<*const Yielder<(), Wait>>,
    /// The lowest address of its stack; set as it is made.
    pub(super) stack: Cell<usize>,
    /// Whether its kernel has begun.
    begun: Cell<bool>,
    copies: Copies,
    spin: Spin,
    /// What all brought to the barrier of the block at which it waited.
    pub(super) brought: Cell<Brought>,
    /// The phase of its cluster's barrier at which it has arrived, until it waits.
    pub(super) arrived: Cell<Option<u64>>,
}

impl Place {
    /// The thread's number in its block.
    pub(super) fn in_block(&self) -> u32 {
        let (thread, dim) = (self.thread, self.block_dim);
        (thread.z * dim.y + thread.y) * dim.x + thread.x
    }

    /// The warp's number in its block, and how many the block has.
    pub(crate) fn warp(&self) -> [u32; 2] {
        let Dim3 { x, y, z } = self.block_dim;
        [self.in_block() / WARP_SIZE, (x * y * z).div_ceil(WARP_SIZE)]
    }

    /// The block's number in the grid.
    pub(crate) fn number(&self) -> u32 {
        let (block, dim) = (self.block, self.grid_dim);
        (block.z * dim.y + block.y) * dim.x + block.x
    }

    /// The cluster's place among the clusters of the grid, and how many there are.
    pub(crate) fn clusters(&self) -> [Dim3; 2] {
        let Dim3 { x, y, z } = self.grid_dim;
        let clusters = Dim3 { x: x / self.cluster.min(x), y, z };
        [clusters.at(self.number() / self.cluster), clusters]
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

impl Thread for Place {
    fn copies(&self) -> &Copies {
        &self.run.copies
    }

    fn looked(&self, at: *const c_void, found: u64) {
        self.run.spin.looked(at, found);
    }

    fn pause(&self) {
        wait(Barrier::Turn, At::Named("nanosleep"));
    }

    fn nanoseconds(&self) -> u64 {
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGIN.elapsed().as_nanos() as u64
    }

    fn lane(&self) -> u32 {
        self.lane()
    }

    fn exchange(&self, name: &'static str, value: u64) -> [Option<u64>; WARP_SIZE as usize] {
        exchange_wide(name, u32::MAX, value)
    }

    fn cancel_launch(&self) -> Option<[u32; 3]> {
        let grid = self.grid_dim;
        let blocks = grid.x * grid.y * grid.z;
        // SAFETY: the launch outlives its threads.
        let next = unsafe { &*self.memory().next };
        let later = |first: u32| (first < blocks).then(|| first + self.cluster);
        next.fetch_update(Relaxed, Relaxed, later).ok().map(|first| grid.at(first)).map(|Dim3 { x, y, z }| [x, y, z])
    }

    fn in_each_block(&self, at: *mut ()) -> Vec<*mut ()> {
        (0..self.cluster).map(|rank| self.memory().in_block(self.rank, at.cast(), rank).cast()).collect()
    }

    fn come(&self, coming: Coming) -> Brought {
        self.meet(coming)
    }

    fn arrive(&self, coming: Coming) {
        self.only_arrive(coming);
    }

    fn arrive_at_cluster(&self, name: &'static str) {
        self.arrive_at_cluster(name);
    }

    fn wait_for_cluster(&self, name: &'static str, at: Option<&'static Location<'static>>) {
        self.wait_for_cluster(name, at);
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

fn current() -> Option<&'static Place> {
    // SAFETY: a place outlives its thread's turn, and the turn ends before anybody else asks on this machine's thread.
    CURRENT.get().map(|place| unsafe { place.as_ref() })
}

/// The thread that runs here, for the instructions.
pub(super) fn thread() -> Option<&'static dyn Thread> {
    current().map(|place| place as &dyn Thread)
}

/// The lowest address of the stack of the thread that runs here.
#[cfg(unix)]
pub(super) fn stack_of_this_thread() -> Option<usize> {
    current().map(|place| place.run.stack.get())
}

/// The thread that asks.
///
/// # Panics
/// Outside of a kernel.
pub(crate) fn place() -> &'static Place {
    current().expect(
        "this asks for the place of a GPU's thread, and no kernel runs here: start it with `ptx_kernel::cpu::Launch`",
    )
}

/// A kernel of that name begins, with those lines of its entry. If it is called by another one, they do not count.
#[doc(hidden)]
pub fn begin(name: &str, lines: &[(&str, u32)]) {
    if let Some(place) = current().filter(|place| !place.run.begun.replace(true)) {
        let Dim3 { x, y, z } = place.block_dim;
        check_kernel(name, lines, x * y * z, place.cluster);
    }
}

/// Lets others go on until this is over.
pub(crate) fn wait(barrier: Barrier, at: At) {
    let run = &place().run;
    run.spin.forget();
    // SAFETY: it is this thread's own, and lives as long as the thread.
    unsafe { &*run.yielder.get() }.suspend(Wait { barrier, at });
}

/// Waits for the lanes of this warp whose bits are set.
pub(crate) fn wait_lanes(name: &'static str, mask: u32) {
    let lane = place().lane();
    assert!(mask >> lane & 1 == 1, "{name}: lane {lane} calls it, and is not in the mask {mask:#010x}");
    wait(if mask == u32::MAX { Barrier::Warp } else { Barrier::Lanes(mask) }, At::Named(name));
}

/// The values of 32 bits that the lanes of this warp in the mask bring; as [`exchange_wide`].
pub(crate) fn exchange(name: &'static str, mask: u32, value: u32) -> [Option<u32>; WARP_SIZE as usize] {
    exchange_wide(name, mask, value.into()).map(|value| value.map(|value| value as u32))
}

/// The values that the lanes of this warp in the mask bring to the instruction of that name; `None` of those that have ended or
/// never were.
fn exchange_wide(name: &'static str, mask: u32, value: u64) -> [Option<u64>; WARP_SIZE as usize] {
    exchange_while(name, mask, value, |values| values)
}

/// What is made of the values that the lanes of this warp in the mask bring, while each of them is still at the instruction.
pub(crate) fn exchange_while<R>(
    name: &'static str,
    mask: u32,
    value: u64,
    made: impl FnOnce([Option<u64>; WARP_SIZE as usize]) -> R,
) -> R {
    let place = place();
    let block = &place.memory().blocks[place.rank as usize];
    let warp = (place.in_block() / WARP_SIZE) as usize;
    block.lanes[warp][place.lane() as usize].set(Some(value));
    wait_lanes(name, mask);
    let in_mask = |lane: usize| mask >> lane & 1 == 1;
    let made = made(std::array::from_fn(|lane| block.lanes[warp][lane].get().filter(|_| in_mask(lane))));
    // Nobody brings the next value before all have this one.
    wait_lanes(name, mask);
    // A lane that ends now brings nothing to the next exchange.
    block.lanes[warp][place.lane() as usize].set(None);
    made
}

/// Panics if a lane of this one's segment does not bring its value.
#[track_caller]
pub(crate) fn check_lanes(what: &str, mask: u32, segment: u32) {
    let here = exchange("a check that all lanes are here", mask, 0);
    let missing = (0..WARP_SIZE).find(|lane| segment >> lane & 1 == 1 && here[*lane as usize].is_none());
    if let Some(missing) = missing {
        panic!(
            "{what} needs all {} lanes, and lane {missing} of this warp is not in the mask, has ended, or never was: \
             launch whole warps, and give lanes without a value one that changes nothing",
            segment.count_ones()
        );
    }
}

/// Panics if the functions of a block do not work in this one.
pub(crate) fn check_block() {
    let Dim3 { x, y, z } = place().block_dim;
    assert!(
        y * z == 1 && x.is_multiple_of(WARP_SIZE),
        "sums and scans of a block are for blocks of one dimension and of whole warps, and this one has {x} by {y} by {z} threads"
    );
}
