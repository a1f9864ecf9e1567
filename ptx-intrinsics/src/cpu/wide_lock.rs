//! Rust has no atomic of 128 bits: the ordered accesses to them take turns.

use super::atomics::AtomicBool;
use super::lock::Lock;

static TAKEN: AtomicBool = AtomicBool::new(false);

#[inline]
pub(crate) fn lock_wide() -> Lock<'static> {
    Lock::take(&TAKEN)
}
