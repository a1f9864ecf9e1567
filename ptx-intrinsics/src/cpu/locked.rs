//! The atomic of 64 bits where the CPU has none: under the lock.

use core::cell::UnsafeCell;

use super::atomics::Ordering;
use super::turn::take_turn;

/// As `core`'s, with what is used here. It orders more than it is told to.
#[repr(C, align(8))]
pub(crate) struct AtomicU64(UnsafeCell<u64>);

// SAFETY: it is read and written under the lock alone.
unsafe impl Sync for AtomicU64 {}

impl AtomicU64 {
    pub(crate) unsafe fn from_ptr<'a>(p: *mut u64) -> &'a Self {
        // SAFETY: the caller's promise: an aligned number that lives, and that others access as this does.
        unsafe { &*p.cast() }
    }

    pub(crate) fn load(&self, _: Ordering) -> u64 {
        self.change(|old| old)
    }

    pub(crate) fn store(&self, value: u64, _: Ordering) {
        self.change(|_| value);
    }

    pub(crate) fn compare_exchange_weak(&self, old: u64, new: u64, _: Ordering, _: Ordering) -> Result<u64, u64> {
        let found = self.change(|found| if found == old { new } else { found });
        if found == old { Ok(found) } else { Err(found) }
    }

    fn change(&self, new: impl FnOnce(u64) -> u64) -> u64 {
        let _turn = take_turn();
        // SAFETY: nobody else has the lock.
        unsafe {
            let old = self.0.get().read();
            let new = new(old);
            if new != old {
                self.0.get().write(new);
            }
            old
        }
    }
}
