//! A function of the program's that a stream calls in a thread of its own, as a driver does: it may wait for what other threads do later.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Called(Arc<(Mutex<bool>, Condvar)>);

impl Called {
    pub(crate) fn end(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.wait_for(Duration::ZERO)
    }

    /// Waits for its end, but not longer than that. Whether it has ended.
    pub(crate) fn wait_for(&self, time: Duration) -> bool {
        let ended = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *self.0.1.wait_timeout_while(ended, time, |ended| !*ended).unwrap_or_else(PoisonError::into_inner).0
    }
}
