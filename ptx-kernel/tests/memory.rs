//! Shared memory on a CPU lives as long as its cluster. Nothing else runs in this program, which counts what is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use ptx_kernel::cpu::Launch;
use ptx_kernel::*;

/// The system's allocator, which counts the bytes that are held.
struct Counted;

static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

shared! {
    fn large() -> [u32; 1 << 18];
}

#[test]
fn shared_memory_is_given_back() {
    // SAFETY: each block writes to its own memory.
    let launch = || unsafe {
        Launch::new(4, 1).dynamic_shared(1 << 20).run(|| {
            large().cast::<u32>().write(1);
            dynamic_shared::<u32>().write(2);
        });
    };
    // What the first one leaves for the next stays.
    launch();
    let before = HELD.load(Ordering::Relaxed);
    launch();
    let more = HELD.load(Ordering::Relaxed) - before;
    assert!(more < 1 << 20, "{more} bytes are held after a launch with 8 MiB of shared memory");
}
