//! Runs a kernel on the CPU.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use rayon::prelude::*;

use crate::Thread;
use crate::block::{Block, Cluster, Wait};

/// Runs `kernel` once for every thread of the grid. Blocks run in parallel, the threads of a block
/// one after the other, so a kernel whose threads wait for each other cannot run here.
pub fn launch(grid_dim: u32, block_dim: u32, kernel: impl Fn(Thread) + Sync) {
    (0..grid_dim).into_par_iter().for_each(|block| {
        for thread in 0..block_dim {
            kernel(Thread { thread, block, block_dim, grid_dim });
        }
    });
}

/// A grid whose threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// How many blocks it has: whole clusters.
    pub blocks: u32,
    /// How many threads a block has.
    pub threads: u32,
    /// How many blocks a cluster has.
    pub cluster: u32,
    /// How many clusters run at the same time; the others begin as these end, in the order of their numbers.
    pub resident: u32,
}

/// Runs `kernel` once for every thread of the grid, as many clusters at a time as the grid says, each on a thread of
/// the machine's own.
///
/// A cluster's threads take turns: each goes on until it waits, and each block until it waits for others. So one that
/// forgets to wait is ahead of the others by all that it has to do, every time.
///
/// # Panics
/// If the kernel does, or if threads of a block wait for each other in vain.
pub fn launch_blocks<S: 'static>(grid: Grid, kernel: impl Fn(Thread, &Block<'_, S>) + Sync) {
    assert!(grid.blocks.is_multiple_of(grid.cluster), "{grid:?} has whole clusters");
    let (next, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let run = || {
        let mut stacks = Vec::new();
        loop {
            let first = next.fetch_add(grid.cluster, Relaxed);
            if first >= grid.blocks {
                return;
            }
            let ran = catch_unwind(AssertUnwindSafe(|| run_cluster(grid, first, &kernel, &mut stacks, &stop)));
            if let Err(panic) = ran {
                // Blocks that wait for this one would wait for ever.
                stop.store(true, Relaxed);
                resume_unwind(panic);
            }
        }
    };
    std::thread::scope(|scope| {
        let resident = grid.resident.min(grid.blocks / grid.cluster);
        let workers: Vec<_> = (0..resident).map(|_| scope.spawn(run)).collect();
        // The first panic is the kernel's own; the others only stopped for it.
        let panics: Vec<_> = workers.into_iter().filter_map(|worker| worker.join().err()).collect();
        let own = panics.iter().position(|panic| !panic.is::<Stopped>());
        if let Some(panic) = panics.into_iter().nth(own.unwrap_or(0)) {
            resume_unwind(panic);
        }
    });
}

/// What a block panics with because another one of its grid did.
struct Stopped;

/// A thread of a block between two waits.
type Fiber = Coroutine<(), Wait, (), DefaultStack>;

/// Enough for a kernel in a dev build.
const STACK: usize = 64 << 10;

/// What a kernel leaves in shared memory that it does not write.
const POISON: u8 = 0xa5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    Waits(Wait),
    Done,
}

fn run_cluster<S: 'static>(
    grid: Grid,
    first: u32,
    kernel: &(dyn Fn(Thread, &Block<'_, S>) + Sync),
    stacks: &mut Vec<DefaultStack>,
    stop: &AtomicBool,
) {
    let mut memory = Vec::<S>::with_capacity(grid.cluster as usize);
    let shared = memory.as_mut_ptr();
    // SAFETY: the memory is that long.
    unsafe { shared.cast::<u8>().write_bytes(POISON, grid.cluster as usize * size_of::<S>()) };
    // SAFETY: the fibers borrow the kernel and end before this function does, by `drop` at the latest.
    let kernel: &'static (dyn Fn(Thread, &Block<'_, S>) + Sync) = unsafe { std::mem::transmute(kernel) };
    let mut fibers: Vec<Fiber> = (0..grid.cluster * grid.threads)
        .map(|at| {
            let (rank, thread) = (at / grid.threads, at % grid.threads);
            let thread = Thread { thread, block: first + rank, block_dim: grid.threads, grid_dim: grid.blocks };
            let stack = stacks.pop().unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a stack"));
            Coroutine::with_stack(stack, move |yielder, ()| {
                let cluster = Cluster { rank, blocks: grid.cluster, shared };
                kernel(thread, &Block::new(cluster, &|wait| yielder.suspend(wait)));
            })
        })
        .collect();
    let mut states = vec![State::Ready; fibers.len()];
    while !all_done(&states) {
        if stop.load(Relaxed) {
            // Quietly: the panic that stopped the grid has been told.
            resume_unwind(Box::new(Stopped));
        }
        let blocks = fibers.chunks_mut(grid.threads as usize).zip(states.chunks_mut(grid.threads as usize));
        for (fibers, states) in blocks {
            // As far as the block comes by itself, and so ahead of the others of its cluster.
            turn(fibers, states);
            while open(states, Wait::Block) {
                turn(fibers, states);
            }
        }
        let turns = take_turns(&mut states);
        assert!(open(&mut states, Wait::Cluster) || turns || all_done(&states), "threads wait in vain");
        if turns {
            std::thread::yield_now();
        }
    }
    stacks.extend(fibers.into_iter().map(Coroutine::into_stack));
}

fn all_done(states: &[State]) -> bool {
    states.iter().all(|state| *state == State::Done)
}

/// Lets every thread that can go on do so until it waits.
fn turn(fibers: &mut [Fiber], states: &mut [State]) {
    for (fiber, state) in fibers.iter_mut().zip(states).filter(|(_, state)| **state == State::Ready) {
        *state = match fiber.resume(()) {
            CoroutineResult::Yield(wait) => State::Waits(wait),
            CoroutineResult::Return(()) => State::Done,
        };
    }
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
