//! The thread of a grid that runs here, where an executor of kernels says so.

use core::ffi::c_void;
use core::mem::{size_of, transmute};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::copies::Copies;

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
