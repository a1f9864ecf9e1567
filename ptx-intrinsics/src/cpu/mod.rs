//! What it means off the GPU: a hint is only a hint, an order is an order, a copy is done at once.

mod access;
#[doc(hidden)]
pub mod atomic;
pub(crate) mod copy;
mod lock;
#[cfg(not(target_has_atomic = "64"))]
mod locked;
pub(crate) mod mbarrier;

pub(crate) use self::access::{load, store};
use self::lock::Lock;
pub use crate::isa::order::Meaning;

/// What stands for an address in shared memory.
type Address = *mut ();

/// Atomics of up to 64 bits on every target.
pub(crate) mod atomics {
    #[cfg(target_has_atomic = "64")]
    pub(crate) use core::sync::atomic::AtomicU64;
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, Ordering};

    #[cfg(not(target_has_atomic = "64"))]
    pub(crate) use super::locked::AtomicU64;
}

#[inline]
fn wait() {
    core::hint::spin_loop();
}

/// Rust has no atomic of 128 bits: the ordered accesses to them take turns.
static TAKEN: atomics::AtomicBool = atomics::AtomicBool::new(false);

#[inline]
pub(crate) fn take_turn() -> Lock<'static> {
    Lock::take(&TAKEN)
}
