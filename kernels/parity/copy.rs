//! A copy, four loads of each thread in flight, in every width of a load.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

const UNROLL: usize = 4;

macro_rules! copies {
    ($($(#[$doc:meta])* $name:ident $type:ty;)*) => { $(
        kernel! {
            $(#[$doc])*
            ///
            /// # Safety
            /// `out` is valid for writes and `input` for reads of `n` elements, fewer than 2^31; nobody else touches `out`, and
            /// nobody writes to `input` while the grid runs.
            pub unsafe fn $name(out: *mut $type, input: *const $type, n: u32) {
                let (first, step) = (global_index(), global_size());
                let mut at: [u32; UNROLL] = core::array::from_fn(|k| first + k as u32 * step);
                while at[UNROLL - 1] < n {
                    // SAFETY: the last of these elements is below n.
                    unsafe {
                        let values: [$type; UNROLL] = core::array::from_fn(|k| ldg(input.add(at[k] as usize)));
                        for k in 0..UNROLL {
                            stcs(out.add(at[k] as usize), values[k]);
                        }
                    }
                    at = at.map(|at| at + UNROLL as u32 * step);
                }
                let mut i = at[0];
                while i < n {
                    // SAFETY: i is below n.
                    unsafe { stcs(out.add(i as usize), ldg(input.add(i as usize))) };
                    i += step;
                }
            }
        }
    )* };
}

copies! {
    /// 32 bits at a time.
    copy32 f32;
    /// 64 bits at a time.
    copy64 V2<f32>;
    /// 128 bits at a time.
    copy128 V4<f32>;
}

#[cfg(feature = "wide")]
copies! {
    /// 256 bits at a time.
    copy256 V8<f32>;
}
