//! A polynomial whose coefficients are a parameter of the kernel: all threads read the same, where the launch put it.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// How many coefficients there are at most.
pub const COEFFICIENTS: usize = 8;

/// A parameter of 32 bytes, by value.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct Coefficients(pub [f32; COEFFICIENTS]);

// SAFETY: its layout is C's, and it is numbers, aligned to 16 bytes.
unsafe impl KernelArgument for Coefficients {}

/// From the parameter itself: a by-value argument that is indexed at run time is first copied to local memory, word by
/// word, by every thread.
const PARAMETER: Ld<ParamEntry> = ld_param_entry();

kernel! {
    /// Computes `y[i] = c[0] + c[1] x[i] + … + c[degree] x[i]^degree` by Horner's rule, each product and sum rounded.
    ///
    /// # Safety
    /// `y` is valid for writes and `x` for reads of `n` elements; nobody else touches `y` and nobody writes to `x`
    /// while the grid runs. `degree` is below [`COEFFICIENTS`].
    pub unsafe fn polynomial(
        y: *mut f32,
        x: *const f32,
        n: usize,
        degree: u32,
        coefficients: Coefficients,
    ) {
        let coefficients = parameter(&coefficients).cast::<f32>();
        let mut i = global_index() as usize;
        while i < n {
            // SAFETY: i is below n, and k is a coefficient's number.
            unsafe {
                let x = ld_global_nc::<NoAllocate, NoPrefetch>().read(x.add(i));
                let mut k = degree as usize;
                let mut sum = PARAMETER.read(coefficients.add(k));
                while k > 0 {
                    k -= 1;
                    sum = sum * x + PARAMETER.read(coefficients.add(k));
                }
                st_global::<Cs>().write(y.add(i), sum);
            }
            i += global_size() as usize;
        }
    }
}

/// Where the parameter lies, by its name in PTX: Rust's own address of it is that of a copy.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn parameter(_: &Coefficients) -> *const Coefficients {
    generic_address!("param", "polynomial_param_4")
}

/// Where the parameter lies.
#[cfg(not(target_arch = "nvptx64"))]
fn parameter(coefficients: &Coefficients) -> *const Coefficients {
    coefficients
}
