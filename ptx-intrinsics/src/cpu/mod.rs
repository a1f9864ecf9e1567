//! What it means on a CPU: a hint is only a hint, an order is an order, a copy is done at once, or, for a thread of a grid, where
//! it is waited for.

mod access;
mod aligned;
pub(crate) mod atomic;
pub(crate) mod atomics;
pub(crate) mod barrier;
pub(crate) mod copies;
pub(crate) mod copy;
pub(crate) mod float;
pub(crate) mod launch_control;
mod lock;
#[cfg(any(test, not(target_has_atomic = "64")))]
mod locked;
pub mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod multimem;
pub(crate) mod odd;
pub(crate) mod reduced;
pub mod tensor;
pub(crate) mod thread;
pub(crate) mod warp;
mod wide;
mod wide_lock;

pub(crate) use self::access::{load, store};
use crate::isa::atomic::AtomicOperation;
use crate::isa::element::Element;
use crate::isa::order::OrderWord;

/// A relaxed reduction. The barrier counts its bytes.
///
/// # Safety
/// As for [`atomic::reduce`], and `bar` is an initialised barrier that expects the size of `T`.
pub(crate) unsafe fn change_to<T: Element>(op: AtomicOperation, p: *mut T, value: T, bar: *mut ()) {
    // SAFETY: the caller's promise.
    unsafe {
        atomic::reduce(op, OrderWord::Relaxed, p, value);
        mbarrier::complete(bar, size_of::<T>() as u32);
    }
}

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
