//! How long the CPU executor takes, as a plain `cargo test` compiles it.

use std::time::Instant;

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

const THREADS: u32 = 256;

/// Elements of a thread.
const EACH: usize = 4;

shared! {
    fn sums() -> [u32; 32];
}

kernel! {
    /// Adds up all elements.
    ///
    /// # Safety
    /// `x` points at `EACH` elements for each thread of the grid, and `sum` at one number, which nobody else touches. A block has
    /// 256 threads.
    #[launch_bounds(THREADS)]
    unsafe fn reduce(x: *const u32, sum: *mut u32) {
        let (i, step) = (global_index() as usize, global_size() as usize);
        // SAFETY: the elements are there, and all threads come to the sum.
        unsafe {
            let mut own = 0u32;
            unroll!(for k in 0..EACH {
                own = own.wrapping_add(ldg(x.add(i + k * step)));
            });
            let block = block_sum(own, sums());
            if thread_idx_x() == 0 {
                ptx!(red.relaxed.gpu.global.add.u32 [sum], block);
            }
        }
    }
}

/// The executor may take as long as this number of sums in a plain loop, which is not optimised.
const LOOPS: u32 = 1000;

#[test]
fn a_million_elements_take_as_long_as_some_plain_loops() {
    let x: Vec<u32> = (0..1 << 20).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let begun = Instant::now();
    let sums: Vec<u32> = (0..8).map(|_| x.iter().fold(0u32, |all, x| all.wrapping_add(*x))).collect();
    let (expected, plain) = (sums[7], begun.elapsed() / 8);
    let mut sum = 0u32;
    let (from, to) = (x.as_ptr(), &raw mut sum);
    let begun = Instant::now();
    // SAFETY: there are four elements for each of 2^18 threads.
    unsafe { cpu::Launch::new(1024, THREADS).run(|| reduce(from, to)) };
    let taken = begun.elapsed();
    println!("{taken:?}, {:.0} plain loops", taken.div_duration_f64(plain));
    assert_eq!(sum, expected);
    assert!(taken < LOOPS * plain, "it took {taken:?}, and a plain loop {plain:?}");
}
