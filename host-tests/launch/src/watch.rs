//! Calls into the driver that may never come back: which one is under way, and since when.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static UNDER_WAY: Mutex<Option<(Instant, String)>> = Mutex::new(None);

fn under_way() -> MutexGuard<'static, Option<(Instant, String)>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the driver, so that [`stuck`] knows what is done.
pub fn watched<T>(doing: &str, call: impl FnOnce() -> T) -> T {
    *under_way() = Some((Instant::now(), doing.to_owned()));
    let done = call();
    *under_way() = None;
    done
}

/// What the driver has been doing for longer than that, if there is such a call.
pub fn stuck(limit: Duration) -> Option<String> {
    let under_way = under_way();
    let (began, doing) = under_way.as_ref()?;
    (began.elapsed() > limit).then(|| doing.clone())
}
