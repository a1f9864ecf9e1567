//! The call that the program has made in this thread, or the function of the program's that a stream calls in it.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::handle::Handle;

thread_local! {
    static NAME: Cell<Option<&'static str>> = const { Cell::new(None) };
    static STREAM: Cell<Option<Handle>> = const { Cell::new(None) };
    static THREAD: Thread = Thread(THREADS.fetch_add(1, Ordering::Relaxed));
}

/// Threads of the host that have made calls.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// A thread of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thread(usize);

impl Thread {
    /// The one that calls. `std::thread::current` is gone when a thread ends, and what it leaves may still call.
    pub(crate) fn current() -> Thread {
        THREAD.with(|thread| *thread)
    }

    /// How many have made calls.
    pub(crate) fn count() -> usize {
        THREADS.load(Ordering::Relaxed)
    }
}

/// Its name; none between two calls.
pub(crate) fn name() -> Option<&'static str> {
    NAME.get()
}

/// The call that the program has made.
pub(crate) fn call_name() -> &'static str {
    name().unwrap_or_default()
}

/// A call begins, or one ends. Gives the name before.
pub(crate) fn replace(name: Option<&'static str>) -> Option<&'static str> {
    NAME.replace(name)
}

/// The stream that calls a function of the program's meanwhile.
pub(crate) fn stream() -> Option<Handle> {
    STREAM.get()
}

/// Calls a function of the program's for a stream: between two calls, for the program.
pub(crate) fn call_back(stream: Handle, function: impl FnOnce()) {
    let before = (NAME.replace(None), STREAM.replace(Some(stream)));
    function();
    NAME.set(before.0);
    STREAM.set(before.1);
}
