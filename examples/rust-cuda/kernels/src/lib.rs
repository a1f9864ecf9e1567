//! A product of numbers, compiled by rust-cuda.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Threads in a block.
pub const THREADS: u32 = 256;

/// What is read once takes no room in L1.
const STREAM: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

kernel! {
    /// Computes `y[i] = a * x[i]`.
    ///
    /// # Safety
    /// `x` and `y` point at `n` elements, and nobody else touches `y`.
    #[launch_bounds(THREADS)]
    pub unsafe fn scale(n: u32, a: f32, x: *const f32, y: *mut f32) {
        let mut i = global_index();
        while i < n {
            // SAFETY: `i` is below `n`.
            unsafe { st_global::<Cs>().write(y.add(i as usize), a * STREAM.read(x.add(i as usize))) }
            i += global_size();
        }
    }
}

/// Runs the kernel on the CPU.
#[cfg(not(target_arch = "nvptx64"))]
pub fn scale_on_cpu(a: f32, x: &[f32]) -> Vec<f32> {
    let mut y = vec![0.0; x.len()];
    let (from, to) = (x.as_ptr(), y.as_mut_ptr());
    // SAFETY: both have as many elements.
    unsafe { cpu::Launch::new(4, THREADS).run(|| scale(x.len() as u32, a, from, to)) };
    y
}
