//! A filter whose taps are in the constant bank: all threads of a warp read the same one, which costs them one access.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// The filter: a low-pass.
pub const TAPS: [f32; 8] = [-0.0625, 0.0, 0.3125, 0.625, 0.625, 0.3125, 0.125, -0.03125];

const TAP: Ld<Const> = ld_const();

/// A neighbour reads it too, up to seven elements further on.
const SIGNAL: LdGlobalNc<EvictLast, Prefetch128> = ld_global_nc();

#[cfg(target_arch = "nvptx64")]
core::arch::global_asm!(
    ".const .align 16 .b32 convolve_taps[8] = {{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}};",
    const TAPS[0].to_bits(), const TAPS[1].to_bits(), const TAPS[2].to_bits(), const TAPS[3].to_bits(),
    const TAPS[4].to_bits(), const TAPS[5].to_bits(), const TAPS[6].to_bits(), const TAPS[7].to_bits(),
);

/// The filter in the constant bank.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn taps() -> *const V4<f32> {
    generic_address!("const", "convolve_taps")
}

/// The filter.
#[cfg(not(target_arch = "nvptx64"))]
fn taps() -> *const V4<f32> {
    #[repr(align(16))]
    struct Aligned([f32; 8]);
    static BANK: Aligned = Aligned(TAPS);
    (&raw const BANK.0).cast()
}

kernel! {
    /// Computes `y[i] = TAPS[0] x[i] + … + TAPS[7] x[i + 7]` in that order, each product and sum rounded.
    ///
    /// # Safety
    /// `y` is valid for writes of `n` elements and `x` for reads of seven more; nobody else touches `y` and nobody
    /// writes to `x` while the grid runs.
    pub unsafe fn convolve(y: *mut f32, x: *const f32, n: usize) {
        let taps = taps();
        let mut i = global_index() as usize;
        while i < n {
            let mut sum = 0.0;
            // SAFETY: i is below n, and there are two vectors of taps.
            unsafe {
                for half in 0..2 {
                    let taps = TAP.read(taps.add(half)).0;
                    for k in 0..4 {
                        sum += taps[k] * SIGNAL.read(x.add(i + 4 * half + k));
                    }
                }
                st_global::<Cs>().write(y.add(i), sum);
            }
            i += global_size() as usize;
        }
    }
}
