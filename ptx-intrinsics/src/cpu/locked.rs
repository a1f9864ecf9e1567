//! The atomic of 64 bits where the CPU has none: under the lock.

use core::cell::UnsafeCell;

use super::atomics::Ordering;
use super::wide_lock::lock_wide;

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
        let _whole = lock_wide();
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

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn it_does_what_an_atomic_does() {
        let mut memory = 7u64;
        // SAFETY: the number lives, and only this test touches it, by this alone.
        let number = unsafe { AtomicU64::from_ptr(&raw mut memory) };
        assert_eq!(number.load(Ordering::Acquire), 7);
        number.store(u64::MAX - 1, Ordering::Release);
        assert_eq!(number.load(Ordering::Relaxed), u64::MAX - 1);
        let exchange = |old, new| number.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Acquire);
        assert_eq!(exchange(7, 8), Err(u64::MAX - 1));
        assert_eq!(number.load(Ordering::Relaxed), u64::MAX - 1);
        assert_eq!(exchange(u64::MAX - 1, 8), Ok(u64::MAX - 1));
        assert_eq!(number.load(Ordering::Relaxed), 8);
    }

    /// Two threads add, and nothing of either is lost.
    #[test]
    fn it_is_changed_in_one_step() {
        let number = AtomicU64(UnsafeCell::new(0));
        let count = if cfg!(miri) { 20 } else { 20_000 };
        let add = || {
            for _ in 0..count {
                let mut old = number.load(Ordering::Relaxed);
                while let Err(now) = number.compare_exchange_weak(old, old + 1, Ordering::Relaxed, Ordering::Relaxed) {
                    old = now;
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(add);
            add();
        });
        assert_eq!(number.load(Ordering::Relaxed), 2 * count);
    }
}
