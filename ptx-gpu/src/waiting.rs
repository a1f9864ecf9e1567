//! Work that waits for what is done later.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::Duration;

use crate::called::Called;
use crate::order::{Point, Turn};
use crate::work::{Host, Kernel, Work};

/// Something is held that was not, or was done, or can be done now. Threads of the host wait for that.
pub(crate) static NEWS: News = News { count: AtomicU64::new(0), told: Condvar::new() };

pub(crate) struct News {
    count: AtomicU64,
    told: Condvar,
}

impl News {
    /// To be called while the driver is locked: whoever has counted before, and finds nothing to do, waits for this.
    pub(crate) fn tell(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.told.notify_all();
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Waits until there is more news than that, but not longer than this. Whether there is.
    pub(crate) fn wait<T>(&self, gpu: MutexGuard<'_, T>, seen: u64, time: Duration) -> bool {
        drop(self.told.wait_timeout_while(gpu, time, |_| self.count() == seen).unwrap_or_else(PoisonError::into_inner));
        self.count() != seen
    }
}

#[derive(Clone)]
pub(crate) struct Held {
    /// Held work is numbered as it is given.
    pub(crate) number: u64,
    pub(crate) work: Work,
    pub(crate) point: Point,
    pub(crate) turn: Turn,
}

impl Held {
    pub(crate) fn kernel(&self) -> Option<&Kernel> {
        match &self.work {
            Work::Kernel(kernel) => Some(kernel),
            _ => None,
        }
    }

    /// A function of the host that was called.
    pub(crate) fn called(&self) -> Option<&Called> {
        match &self.work {
            Work::Host(Host { called, .. }) => called.as_ref(),
            _ => None,
        }
    }

    /// A function of the host that was called, and has not ended.
    pub(crate) fn runs(&self) -> bool {
        self.called().is_some_and(|called| !called.has_ended())
    }
}
