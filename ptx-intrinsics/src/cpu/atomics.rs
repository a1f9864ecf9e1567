//! What a CPU has for atomics of up to 32 bits, and for waiting.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, Ordering};

#[inline]
pub(crate) fn wait() {
    core::hint::spin_loop();
}
