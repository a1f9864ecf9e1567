//! What it means on a CPU: a hint is only a hint, an order is an order, a copy is done at once, or, for a thread of a grid, where
//! it is waited for.

mod access;
mod aligned;
pub(crate) mod atomic;
pub(crate) mod atomics;
pub(crate) mod copies;
pub(crate) mod copy;
mod lock;
#[cfg(any(test, not(target_has_atomic = "64")))]
mod locked;
pub(crate) mod mbarrier;
pub(crate) mod thread;
mod wide;
mod wide_lock;

pub(crate) use self::access::{load, store};

/// Whether the barrier's phase of that parity is complete, asked by a thread that may ask again.
///
/// # Safety
/// As for [`mbarrier::is_complete`].
#[inline]
pub(crate) unsafe fn is_complete(bar: *mut (), parity: bool) -> bool {
    // SAFETY: the caller's promise.
    let complete = unsafe { mbarrier::is_complete(bar, parity) };
    if !complete {
        thread::looked(bar, &());
    }
    complete
}
