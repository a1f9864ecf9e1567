//! The lock lets one thread in at a time, and shows it what the last one did.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::all_orders;
use crate::atomics::AtomicBool;
use crate::lock_of_the_crate::Lock;

struct Guarded {
    taken: AtomicBool,
    number: UnsafeCell<[u64; 2]>,
}

// SAFETY: the number is touched under the lock, or `loom` says that it is not.
unsafe impl Sync for Guarded {}
// SAFETY: as above.
unsafe impl Send for Guarded {}

impl Guarded {
    /// Adds one to both halves; they are the same whenever somebody looks.
    fn add(&self) {
        let _turn = Lock::take(&self.taken);
        self.number.with_mut(|number| {
            // SAFETY: this thread has the lock.
            let number = unsafe { &mut *number };
            assert_eq!(number[0], number[1]);
            number[0] += 1;
            number[1] += 1;
        });
    }
}

/// Of three threads, two that wait would let each other go on for ever, as `loom` sees it.
#[test]
fn two_threads_take_turns() {
    let orders = all_orders(2, || {
        let guarded = Arc::new(Guarded { taken: AtomicBool::new(false), number: UnsafeCell::new([0; 2]) });
        let other = thread::spawn({
            let guarded = guarded.clone();
            move || guarded.add()
        });
        guarded.add();
        guarded.add();
        other.join().expect("it does not panic");
        let _turn = Lock::take(&guarded.taken);
        // SAFETY: the other thread has ended.
        guarded.number.with(|number| assert_eq!(unsafe { *number }, [3; 2]));
    });
    println!("{orders} orders");
    assert!(orders > 1);
}
