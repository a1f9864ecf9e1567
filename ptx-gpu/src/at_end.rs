//! What is done when the program ends.

use std::sync::Once;

/// A function is called then, however often it is asked for with the same `once`.
pub(crate) fn at_end(once: &Once, function: extern "C" fn()) {
    once.call_once(|| {
        // SAFETY: the function is one of this library, which is never unloaded.
        unsafe { libc::atexit(function) };
    });
}
