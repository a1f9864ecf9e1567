//! A spin lock: what it guards is done in a few instructions.
//!
//! A test of the harness compiles this file with atomics that try every order of two and three threads.

use super::atomics::{self, AtomicBool, Ordering};

/// It is taken while this lives.
pub(crate) struct Lock<'a>(&'a AtomicBool);

impl<'a> Lock<'a> {
    #[inline]
    pub(crate) fn take(taken: &'a AtomicBool) -> Self {
        while taken.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            atomics::wait();
        }
        Self(taken)
    }
}

impl Drop for Lock<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
