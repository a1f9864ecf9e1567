//! What it means on a CPU: a hint is only a hint, an order is an order, a copy is done at once.

mod access;
pub(crate) mod atomic;
pub(crate) mod atomics;
pub(crate) mod copy;
mod lock;
#[cfg(any(test, not(target_has_atomic = "64")))]
mod locked;
pub(crate) mod mbarrier;
mod wide;
mod wide_lock;

pub(crate) use self::access::{load, store};
