//! Handles: contexts, modules, functions, streams, events, pools, graphs and their nodes have numbers of one series.

use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) type Handle = usize;

static LAST: AtomicUsize = AtomicUsize::new(0x1000);

/// A handle that nothing has. Programs may look at its lowest bits.
pub(crate) fn next() -> Handle {
    LAST.fetch_add(0x10, Ordering::Relaxed) + 0x10
}
