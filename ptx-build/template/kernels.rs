//! The kernels: entry points on a GPU, functions on a CPU.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Threads in a block.
pub const THREADS: u32 = 256;

kernel! {
    /// Computes `y[i] += a * x[i]`.
    ///
    /// # Safety
    /// `x` and `y` point at `n` elements, and nobody else touches `y`.
    #[launch_bounds(THREADS)]
    pub unsafe fn axpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
        let mut i = global_index();
        while i < n {
            // SAFETY: `i` is below `n`, and is this thread's own.
            unsafe {
                // Each element is read once: it takes no room in L1 from others, and its neighbours are fetched into L2.
                let x = ld_global_nc::<NoAllocate, Prefetch256>().read(x.add(i as usize));
                let y = y.add(i as usize);
                *y = mul_add(a, x, *y);
            }
            i += global_size();
        }
    }
}

/// The number of blocks that `n` elements need, and at most what a GPU runs at once.
#[cfg(not(target_arch = "nvptx64"))]
pub fn blocks(n: usize) -> u32 {
    n.div_ceil(THREADS as usize).clamp(1, 1024) as u32
}

/// Runs [`axpy`] on the CPU.
#[cfg(not(target_arch = "nvptx64"))]
pub fn axpy_on_cpu(a: f32, x: &[f32], y: &mut [f32]) {
    assert_eq!(x.len(), y.len());
    let n = u32::try_from(x.len()).expect("the kernel counts in 32 bits");
    let (from, to) = (x.as_ptr(), y.as_mut_ptr());
    // SAFETY: both have `n` elements, and `y` is borrowed.
    unsafe { cpu::Launch::new(blocks(x.len()), THREADS).run(|| axpy(n, a, from, to)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length() {
        for n in [0, 1, 255, 256, 257, 1000, 300_000] {
            let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let mut y = vec![0.5; n];
            axpy_on_cpu(2.0, &x, &mut y);
            assert!(
                y.iter().zip(&x).all(|(y, x)| *y == 2.0f32.mul_add(*x, 0.5)),
                "{n} elements"
            );
        }
    }
}
