//! A launch: the grid, and how its threads take turns.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use super::dim3::Dim3;
use super::limits::{check_shared, check_sizes};
use super::memory::{BlockMemory, ClusterMemory};
use super::order::{Order, Turns};
use super::place::{Place, Wait, enter, thread};
use super::stack;
use super::turns::{State, all_done, name, open_block, open_cluster, open_lanes, open_warp, take_turns, who_waits};
use crate::WARP_SIZE;

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
    order: Order,
}

impl Launch {
    /// A grid of `grid` blocks with `block` threads each.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Launch {
        let resident = std::thread::available_parallelism().map_or(2, |threads| threads.get() as u32).max(2);
        Launch {
            grid: grid.into(),
            block: block.into(),
            cluster: 1,
            dynamic_shared: 0,
            resident,
            order: Order::Ascending,
        }
    }

    /// With clusters of this number of blocks, side by side in `x`.
    pub fn cluster(self, blocks: u32) -> Launch {
        Launch { cluster: blocks, ..self }
    }

    /// With this number of bytes of [`dynamic_shared`](crate::dynamic_shared).
    pub fn dynamic_shared(self, bytes: usize) -> Launch {
        Launch { dynamic_shared: bytes, ..self }
    }

    /// Runs `clusters` clusters at the same time. The others begin as these end, in the order of their numbers. The default is
    /// the number of threads of the machine, and at least two. Blocks that wait for each other have to run at the
    /// same time.
    pub fn resident(self, clusters: u32) -> Launch {
        Launch { resident: clusters, ..self }
    }

    /// With turns in this order; in ascending order, if nothing is said.
    pub fn order(self, order: Order) -> Launch {
        Launch { order, ..self }
    }

    /// Runs `kernel` once for each thread of the grid, and returns when all have ended.
    ///
    /// # Safety
    /// As for the kernel. What the closure captures is used by several threads of the machine at once.
    ///
    /// # Panics
    /// If the kernel does, with what it says; the thread is named on stderr. If threads wait for each other in vain. If no GPU
    /// launches this: the grid has no threads or no whole clusters, or is too large, or a block is. If a thread does what no GPU
    /// does, as the [module](self::super) says. A thread that needs more than 1 MiB of stack ends the program.
    pub unsafe fn run(self, kernel: impl Fn()) {
        let (blocks, _) = check_sizes(self.grid, self.block, self.cluster);
        check_shared(0, self.dynamic_shared);
        ptx_intrinsics::on_cpu::run_by(thread);
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
                let ran =
                    catch_unwind(AssertUnwindSafe(|| self.run_cluster(first, &next, kernel.0, &mut stacks, &stop)));
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

    fn run_cluster(
        &self,
        first: u32,
        next: &AtomicU32,
        kernel: &dyn Fn(),
        stacks: &mut Vec<DefaultStack>,
        stop: &AtomicBool,
    ) {
        let threads = self.block.count("threads of a block");
        let blocks = (0..self.cluster).map(|_| BlockMemory::new(threads, self.dynamic_shared)).collect();
        let memory = ClusterMemory { blocks, next, phase: Default::default() };
        let places: Vec<Place> = (0..self.cluster * threads)
            .map(|at| Place {
                thread: self.block.at(at % threads),
                block: self.grid.at(first + at / threads),
                block_dim: self.block,
                grid_dim: self.grid,
                rank: at / threads,
                cluster: self.cluster,
                memory: &raw const memory,
                run: Default::default(),
            })
            .collect();
        // The fibers borrow the kernel and the places, and end before this function does, by `drop` at the latest.
        // SAFETY: so their life may be called endless.
        let kernel: &'static dyn Fn() = unsafe { std::mem::transmute::<&dyn Fn(), &'static dyn Fn()>(kernel) };
        let mut fibers: Vec<Fiber> = places.iter().map(|place| fiber(place, kernel, stacks)).collect();
        let mut states = vec![State::Ready; fibers.len()];
        let mut turns: Vec<_> = (0..self.cluster).map(|block| Turns::new(self.order, threads, first + block)).collect();
        while !all_done(&states) {
            if stop.load(Relaxed) {
                // Quietly: the panic that stopped the grid has been told.
                resume_unwind(Box::new(Stopped));
            }
            let threads = threads as usize;
            let of_blocks = fibers.chunks_mut(threads).zip(states.chunks_mut(threads)).zip(places.chunks(threads));
            for (((fibers, states), places), turns) in of_blocks.zip(&mut turns) {
                run_block(fibers, states, places, turns);
            }
            let turns = take_turns(&mut states);
            assert!(
                open_cluster(&mut states, &places, threads) || turns || all_done(&states),
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

fn fiber(place: &Place, kernel: &'static dyn Fn(), stacks: &mut Vec<DefaultStack>) -> Fiber {
    let stack = stacks.pop().unwrap_or_else(stack::make);
    place.run.stack.set(stack::lowest(&stack));
    let place: *const Place = place;
    Coroutine::with_stack(stack, move |yielder, ()| {
        // SAFETY: the place outlives the fiber.
        unsafe { &*place }.run.yielder.set(yielder);
        kernel();
    })
}

/// Runs a block as far as it comes by itself, and so ahead of the others of its cluster.
fn run_block(fibers: &mut [Fiber], states: &mut [State], places: &[Place], turns: &mut Turns) {
    loop {
        for &at in turns.next() {
            if states[at] == State::Ready {
                states[at] = resume(&mut fibers[at], &places[at]);
            }
        }
        let warp = WARP_SIZE as usize;
        let warps = states.chunks_mut(warp).zip(places.chunks(warp));
        // All of them: each warp goes on by itself.
        let open = |states: &mut [State], places: &[Place]| open_warp(states, places) || open_lanes(states, places);
        let opened = warps.filter_map(|(states, places)| open(states, places).then_some(())).count();
        if opened == 0 && !open_block(states, places) {
            return;
        }
    }
}

/// Lets a thread go on until it waits.
fn resume(fiber: &mut Fiber, place: &Place) -> State {
    enter(Some(place));
    match catch_unwind(AssertUnwindSafe(|| fiber.resume(()))) {
        Ok(CoroutineResult::Yield(wait)) => State::Waits(wait),
        Ok(CoroutineResult::Return(())) => State::Done,
        Err(panic) => panicked(place, panic),
    }
}

/// Names the thread whose kernel panicked, and panics with what it said.
fn panicked(place: &Place, panic: Box<dyn Any + Send>) -> ! {
    eprintln!("the kernel panicked in {}", name(place));
    resume_unwind(panic)
}
