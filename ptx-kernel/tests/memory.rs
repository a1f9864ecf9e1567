//! Shared memory on a CPU: how long it lives, and where it lies. Nothing else runs in this program, which counts what is allocated,
//! and gives no memory that is better aligned than was asked.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use ptx_kernel::cpu::Launch;
use ptx_kernel::*;

/// The system's allocator, which counts the bytes that are held. An address is a multiple of the alignment that is asked for, and
/// not of twice as much.
struct Counted;

/// What is asked of the system for it, and where in that it begins.
fn around(layout: Layout) -> (Layout, usize) {
    let align = layout.align();
    (Layout::from_size_align(layout.size() + align, 2 * align).expect("it fits into memory"), align)
}

static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe {
            let (layout, at) = around(layout);
            let memory = System.alloc(layout);
            if memory.is_null() { memory } else { memory.add(at) }
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe {
            let (layout, at) = around(layout);
            System.dealloc(memory.sub(at), layout)
        }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// More than its size says.
#[repr(align(64))]
struct Aligned([u8; 3]);

shared! {
    fn large() -> [u32; 12 << 10];
    fn byte() -> u8;
    fn aligned() -> Aligned;
}

#[test]
fn shared_memory_is_given_back() {
    // SAFETY: each block writes to its own memory.
    let launch = || unsafe {
        Launch::new(16, 1).dynamic_shared(128 << 10).run(|| {
            large().cast::<u32>().write(1);
            dynamic_shared::<u32>().write(2);
        });
    };
    // What the first one leaves for the next stays.
    launch();
    let before = HELD.load(Ordering::Relaxed);
    launch();
    let more = HELD.load(Ordering::Relaxed) - before;
    assert!(more < 100 << 10, "{more} bytes are held after a launch with 2.75 MiB of shared memory");
}

/// As on a GPU: at a multiple of 16, or of what the type asks for.
#[test]
fn variables_are_aligned_as_on_a_gpu() {
    let (mut found, mut seen) = ([0usize; 3], [0usize; 3]);
    let to = found.as_mut_ptr();
    // SAFETY: one thread.
    unsafe {
        Launch::new(1, 1).dynamic_shared(1).run(|| {
            let at = |number: usize, p: String| *to.add(number) = address(&p);
            at(0, format!("{:?}", byte()));
            at(1, format!("{:?}", aligned()));
            at(2, format!("{:?}", dynamic_shared::<u8>()));
        });
    }
    for (seen, found) in seen.iter_mut().zip(found) {
        *seen = 1 << found.trailing_zeros();
    }
    assert_eq!(seen, [16, 64, 16], "{found:x?}");
    assert_eq!(size_of::<Aligned>(), 64);
    let _ = Aligned([0; 3]).0;
}

/// Of `SharedPtr(0x…)`.
fn address(text: &str) -> usize {
    let digits = text.split_once("0x").expect("it shows its address").1.trim_end_matches(')');
    usize::from_str_radix(digits, 16).expect("an address")
}
