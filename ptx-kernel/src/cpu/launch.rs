//! A launch: the grid, and how its threads take turns.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use super::memory::{BlockMemory, ClusterMemory};
use super::place::{Place, Wait, enter};
use crate::WARP_SIZE;

/// A size or a number in up to three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// The first dimension.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The third dimension.
    pub z: u32,
}

impl Dim3 {
    /// How many there are, which is to be at least one and fit into 32 bits.
    fn count(self, of: &str) -> u32 {
        let count = [self.x, self.y, self.z].into_iter().try_fold(1u32, u32::checked_mul);
        let count = count.unwrap_or_else(|| panic!("{self:?} {of} are more than a launch can have"));
        assert!(count > 0, "a launch has at least one of its {of}, and this has {self:?}");
        count
    }

    /// The place of that number in a box of this size.
    fn at(self, number: u32) -> Dim3 {
        Dim3 { x: number % self.x, y: number / self.x % self.y, z: number / self.x / self.y }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Dim3 {
        Dim3 { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Dim3 {
        Dim3 { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Dim3 {
        Dim3 { x, y, z }
    }
}

/// A launch of a kernel on the CPU.
///
/// ```
/// use ptx_kernel::*;
///
/// kernel! {
///     /// # Safety
///     /// `out` points at an element for each thread of a grid of 6 by 4 threads.
///     pub unsafe fn fill(out: *mut u32) {
///         let (x, y) = (block_idx_x() * block_dim_x() + thread_idx_x(), thread_idx_y());
///         // SAFETY: the thread's own element.
///         unsafe { *out.add((y * 6 + x) as usize) = 10 * y + x }
///     }
/// }
///
/// let mut out = [0; 24];
/// let to = out.as_mut_ptr();
/// // SAFETY: it has an element for each thread.
/// unsafe { cpu::Launch::new(2, (3, 4)).run(|| fill(to)) };
/// assert_eq!(out[6..12], [10, 11, 12, 13, 14, 15]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    grid: Dim3,
    block: Dim3,
    cluster: u32,
    dynamic_shared: usize,
    resident: u32,
}

impl Launch {
    /// A grid of so many blocks of so many threads.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Launch {
        let resident = std::thread::available_parallelism().map_or(2, |threads| threads.get() as u32).max(2);
        Launch { grid: grid.into(), block: block.into(), cluster: 1, dynamic_shared: 0, resident }
    }

    /// With clusters of so many blocks, side by side in `x`.
    pub fn cluster(self, blocks: u32) -> Launch {
        Launch { cluster: blocks, ..self }
    }

    /// With so many bytes of [`dynamic_shared`](crate::dynamic_shared).
    pub fn dynamic_shared(self, bytes: usize) -> Launch {
        Launch { dynamic_shared: bytes, ..self }
    }

    /// With so many clusters at the same time; the others begin as these end, in the order of their numbers. As many as
    /// the machine has threads, if nothing is said, and at least two. Blocks that wait for each other have to run at the
    /// same time.
    pub fn resident(self, clusters: u32) -> Launch {
        Launch { resident: clusters, ..self }
    }

    /// Runs `kernel` once for each thread of the grid, and returns when all have ended.
    ///
    /// # Safety
    /// As for the kernel. What the closure captures is used by several threads of the machine at once.
    ///
    /// # Panics
    /// If the kernel does, with what it says; the thread is named on stderr. If threads wait for each other in vain. If the
    /// grid has no threads, or no whole clusters.
    pub unsafe fn run(self, kernel: impl Fn()) {
        let blocks = self.grid.count("blocks");
        self.block.count("threads of a block");
        assert!(
            self.cluster > 0 && self.grid.x.is_multiple_of(self.cluster),
            "a grid of {} blocks in x has no whole clusters of {}",
            self.grid.x,
            self.cluster
        );
        let (next, stop) = (AtomicU32::new(0), AtomicBool::new(false));
        let kernel = Everywhere(&kernel);
        let work = || {
            let kernel = &kernel;
            let mut stacks = Vec::new();
            loop {
                let first = next.fetch_add(self.cluster, Relaxed);
                if first >= blocks {
                    return;
                }
                let ran = catch_unwind(AssertUnwindSafe(|| self.run_cluster(first, kernel.0, &mut stacks, &stop)));
                enter(None);
                if let Err(panic) = ran {
                    // Blocks that wait for this one would wait for ever.
                    stop.store(true, Relaxed);
                    resume_unwind(panic);
                }
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..self.resident.clamp(1, blocks / self.cluster)).map(|_| scope.spawn(work)).collect();
            // The first panic is the kernel's own; the others only stopped for it.
            let panics: Vec<_> = workers.into_iter().filter_map(|worker| worker.join().err()).collect();
            let own = panics.iter().position(|panic| !panic.is::<Stopped>());
            if let Some(panic) = panics.into_iter().nth(own.unwrap_or(0)) {
                resume_unwind(panic);
            }
        });
    }

    fn run_cluster(&self, first: u32, kernel: &dyn Fn(), stacks: &mut Vec<DefaultStack>, stop: &AtomicBool) {
        let threads = self.block.count("threads of a block");
        let blocks = (0..self.cluster).map(|_| BlockMemory::new(threads, self.dynamic_shared)).collect();
        let memory = ClusterMemory { blocks };
        let places: Vec<Place> = (0..self.cluster * threads)
            .map(|at| Place {
                thread: self.block.at(at % threads),
                block: self.grid.at(first + at / threads),
                block_dim: self.block,
                grid_dim: self.grid,
                rank: at / threads,
                cluster: self.cluster,
                memory: &raw const memory,
                yielder: Default::default(),
            })
            .collect();
        // The fibers borrow the kernel and the places, and end before this function does, by `drop` at the latest.
        // SAFETY: so their life may be called endless.
        let kernel: &'static dyn Fn() = unsafe { std::mem::transmute::<&dyn Fn(), &'static dyn Fn()>(kernel) };
        let mut fibers: Vec<Fiber> = places.iter().map(|place| fiber(place, kernel, stacks)).collect();
        let mut states = vec![State::Ready; fibers.len()];
        while !all_done(&states) {
            if stop.load(Relaxed) {
                // Quietly: the panic that stopped the grid has been told.
                resume_unwind(Box::new(Stopped));
            }
            let threads = threads as usize;
            let of_blocks = fibers.chunks_mut(threads).zip(states.chunks_mut(threads)).zip(places.chunks(threads));
            for ((fibers, states), places) in of_blocks {
                run_block(fibers, states, places);
            }
            let turns = take_turns(&mut states);
            assert!(
                open(&mut states, Wait::Cluster) || turns || all_done(&states),
                "threads wait in vain: {}",
                who_waits(&states, &places)
            );
            if turns {
                std::thread::yield_now();
            }
        }
        stacks.extend(fibers.into_iter().map(Coroutine::into_stack));
    }
}

/// A kernel, on all threads of the machine: whoever runs it promises that it may be.
struct Everywhere<'a>(&'a dyn Fn());

// SAFETY: the promise of `Launch::run`.
unsafe impl Sync for Everywhere<'_> {}

/// What a block panics with because another one of its grid did.
struct Stopped;

/// A thread of a block between two waits.
type Fiber = Coroutine<(), Wait, (), DefaultStack>;

/// Enough for a kernel in a dev build.
const STACK: usize = 64 << 10;

fn fiber(place: &Place, kernel: &'static dyn Fn(), stacks: &mut Vec<DefaultStack>) -> Fiber {
    let place: *const Place = place;
    let stack = stacks.pop().unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a stack"));
    Coroutine::with_stack(stack, move |yielder, ()| {
        // SAFETY: the place outlives the fiber.
        unsafe { &*place }.yielder.set(yielder);
        kernel();
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Waits(Wait),
    Done,
}

fn all_done(states: &[State]) -> bool {
    states.iter().all(|state| *state == State::Done)
}

/// Runs a block as far as it comes by itself, and so ahead of the others of its cluster.
fn run_block(fibers: &mut [Fiber], states: &mut [State], places: &[Place]) {
    loop {
        turn(fibers, states, places);
        // All of them: each warp goes on by itself.
        let opened =
            states.chunks_mut(WARP_SIZE as usize).filter_map(|warp| open(warp, Wait::Warp).then_some(())).count();
        if opened == 0 && !open(states, Wait::Block) {
            return;
        }
    }
}

/// Lets every thread that can go on do so until it waits.
fn turn(fibers: &mut [Fiber], states: &mut [State], places: &[Place]) {
    for ((fiber, state), place) in
        fibers.iter_mut().zip(states).zip(places).filter(|((_, state), _)| **state == State::Ready)
    {
        enter(Some(place));
        let ran = catch_unwind(AssertUnwindSafe(|| fiber.resume(())));
        *state = match ran {
            Ok(CoroutineResult::Yield(wait)) => State::Waits(wait),
            Ok(CoroutineResult::Return(())) => State::Done,
            Err(panic) => panicked(place, panic),
        };
    }
}

/// Names the thread whose kernel panicked, and panics with what it said.
fn panicked(place: &Place, panic: Box<dyn Any + Send>) -> ! {
    eprintln!("the kernel panicked in {}", name(place));
    resume_unwind(panic)
}

fn name(place: &Place) -> String {
    let (Dim3 { x, y, z }, block) = (place.thread, place.block);
    format!("thread ({x}, {y}, {z}) of block ({}, {}, {})", block.x, block.y, block.z)
}

/// Which threads wait for what; a few of them.
fn who_waits(states: &[State], places: &[Place]) -> String {
    let waiting = states.iter().zip(places).filter_map(|(state, place)| match state {
        State::Waits(wait) => Some(format!("{} for its {}", name(place), format!("{wait:?}").to_lowercase())),
        State::Ready | State::Done => None,
    });
    waiting.take(4).collect::<Vec<_>>().join("; ")
}

/// Opens the barrier if all have come to it, or ended before; says whether they have.
fn open(states: &mut [State], barrier: Wait) -> bool {
    let here = |state: &State| *state == State::Waits(barrier);
    if !states.iter().any(here) || !states.iter().all(|state| here(state) || *state == State::Done) {
        return false;
    }
    states.iter_mut().filter(|state| here(state)).for_each(|state| *state = State::Ready);
    true
}

/// Readies those that only let others go on; says whether there was one.
fn take_turns(states: &mut [State]) -> bool {
    let mut any = false;
    for state in states.iter_mut().filter(|state| **state == State::Waits(Wait::Turn)) {
        (*state, any) = (State::Ready, true);
    }
    any
}
