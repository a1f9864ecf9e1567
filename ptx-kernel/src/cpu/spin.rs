//! A thread that looks for ever at what nobody changes meanwhile.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null;
use std::time::{Duration, Instant};

/// How many places a loop may look at.
const PLACES: usize = 4;

/// After this number of looks the clock is read.
const OFTEN: u32 = 1 << 16;

/// A thread that waits by [`pause`](crate::pause) is not asked how long.
const TOO_LONG: Duration = Duration::from_secs(5);

/// What a thread has looked at since it last let others go on, and what it found.
pub(super) struct Spin {
    seen: Cell<[(*const c_void, u64); PLACES]>,
    next: Cell<usize>,
    times: Cell<u32>,
    since: Cell<Option<Instant>>,
}

impl Default for Spin {
    fn default() -> Spin {
        Spin { seen: Cell::new([(null(), 0); PLACES]), next: Cell::new(0), times: Cell::new(0), since: Cell::new(None) }
    }
}

impl Spin {
    /// The thread found this.
    ///
    /// # Panics
    /// If it has found nothing new for too long.
    pub(super) fn looked(&self, at: *const c_void, found: u64) {
        let mut seen = self.seen.get();
        if !seen.contains(&(at, found)) {
            seen[self.next.get()] = (at, found);
            self.seen.set(seen);
            self.next.set((self.next.get() + 1) % PLACES);
            self.times.set(0);
            self.since.set(None);
            return;
        }
        self.times.set(self.times.get() + 1);
        if self.times.get() < OFTEN {
            return;
        }
        self.times.set(0);
        match self.since.get() {
            None => self.since.set(Some(Instant::now())),
            Some(since) => assert!(
                since.elapsed() < TOO_LONG,
                "a thread has waited for {TOO_LONG:?} for a change at {at:p}, and the threads of its block that did not run \
                 meanwhile cannot make it: call `pause()` in the loop"
            ),
        }
    }

    /// The thread lets others go on.
    pub(super) fn forget(&self) {
        self.times.set(0);
        self.since.set(None);
        self.seen.set([(null(), 0); PLACES]);
    }
}
