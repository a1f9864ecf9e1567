//! The thread of a grid that runs here, where an executor of kernels says so.

use alloc::vec::Vec;
use core::ffi::c_void;
use core::mem::{size_of, transmute};
use core::panic::Location;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::copies::Copies;

/// How a thread comes to a barrier of its block.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    /// The instruction.
    pub name: &'static str,
    /// Where it is, if all threads of a warp execute it together.
    pub at: Option<&'static Location<'static>>,
    /// The barrier.
    pub number: u32,
    /// How many threads come to it; all of the block's that have not ended, if nothing is said.
    pub threads: Option<u32>,
    /// What the thread brings to a `.red`.
    pub holds: Option<bool>,
}

/// What the threads bring to a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// How many threads have come.
    pub threads: u32,
    /// For how many of them it holds.
    pub holding: u32,
}

impl Brought {
    /// What one thread brings.
    pub fn by_one(holds: Option<bool>) -> Brought {
        Brought { threads: 1, holding: holds.unwrap_or(false).into() }
    }

    /// For how many it holds.
    pub fn count(self) -> u32 {
        self.holding
    }

    /// Whether it holds for all.
    pub fn all(self) -> bool {
        self.holding == self.threads
    }

    /// Whether it holds for any.
    pub fn any(self) -> bool {
        self.holding > 0
    }
}

/// A thread of a grid, kept by an executor of kernels.
pub trait Thread {
    /// The asynchronous copies that it has begun.
    fn copies(&self) -> &Copies;
    /// It has looked at what others may change, and found these bits, folded into 64.
    fn looked(&self, at: *const c_void, found: u64);
    /// It lets others go on.
    fn pause(&self);
    /// The time, on a clock that all threads share.
    fn nanoseconds(&self) -> u64;
    /// Its number in its warp.
    fn lane(&self) -> u32;
    /// What the lanes of its warp bring to the instruction of that name; `None` of those that have ended or never were.
    fn exchange(&self, name: &'static str, value: u64) -> [Option<u64>; 32];
    /// It cancels the launch of a cluster of its grid that has not begun, if there is one: the number of its first block.
    fn cancel_launch(&self) -> Option<[u32; 3]>;
    /// The places in each block of its cluster that correspond to one in its own block's shared memory.
    fn in_each_block(&self, at: *mut ()) -> Vec<*mut ()>;
    /// It comes to a barrier of its block and waits there: what all bring.
    fn come(&self, coming: Coming) -> Brought;
    /// It arrives at a barrier of its block and goes on.
    fn arrive(&self, coming: Coming);
    /// It arrives at the barrier of its cluster, by the instruction of that name, and goes on.
    fn arrive_at_cluster(&self, name: &'static str);
    /// It waits until all threads of its cluster have arrived. `at` is where the instruction is, if all threads of a warp execute it
    /// together.
    fn wait_for_cluster(&self, name: &'static str, at: Option<&'static Location<'static>>);
}

/// Finds the thread of the grid that runs on the calling thread of the machine.
pub type Find = fn() -> Option<&'static dyn Thread>;

/// A [`Find`], once there is an executor.
static FIND: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Has the instructions ask this executor which thread runs them.
pub fn run_by(find: Find) {
    FIND.store(find as *mut c_void, Ordering::Release);
}

/// The thread that runs here; none outside of an executor.
#[inline]
pub(crate) fn current() -> Option<&'static dyn Thread> {
    let find = FIND.load(Ordering::Acquire);
    if find.is_null() {
        return None;
    }
    // SAFETY: only a `Find` is ever stored.
    let find = unsafe { transmute::<*mut c_void, Find>(find) };
    find()
}

/// Lets others go on.
pub(crate) fn pause() {
    match current() {
        Some(thread) => thread.pause(),
        None => core::hint::spin_loop(),
    }
}

/// The time. Outside of an executor there is no clock, and each reading is one more.
pub(crate) fn nanoseconds() -> u64 {
    static READ: AtomicUsize = AtomicUsize::new(0);
    current().map_or_else(|| READ.fetch_add(1, Ordering::Relaxed) as u64, |thread| thread.nanoseconds())
}

/// Tells the thread that runs here that it has looked at `at`.
#[inline]
pub(crate) fn looked<T: Copy>(at: *const T, found: &T) {
    if let Some(thread) = current() {
        let bytes = (found as *const T).cast::<u8>();
        // SAFETY: what instructions move has no padding.
        let bits = (0..size_of::<T>()).fold(0u64, |bits, i| bits.rotate_left(8) ^ u64::from(unsafe { *bytes.add(i) }));
        thread.looked(at.cast(), bits);
    }
}
