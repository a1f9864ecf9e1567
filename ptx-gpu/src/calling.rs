//! The call that the program has made in this thread.

use std::cell::Cell;

thread_local! {
    static NAME: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Its name; none between two calls.
pub(crate) fn name() -> Option<&'static str> {
    NAME.get()
}

/// A call begins, or one ends. Gives the name before.
pub(crate) fn replace(name: Option<&'static str>) -> Option<&'static str> {
    NAME.replace(name)
}
