//! A copy, four loads of each thread in flight, in every width of a load.

use kernels::Thread;
use ptx_intrinsics::*;

const UNROLL: usize = 4;

macro_rules! copies {
    ($($(#[$doc:meta])* $name:ident $type:ty;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// `out` is valid for writes and `input` for reads of `n` elements; nobody else touches `out`, and nobody writes
        /// to `input` while the grid runs.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(out: *mut $type, input: *const $type, n: usize) {
            let (thread, step) = (Thread::current(), Thread::current().count());
            let mut i = thread.index();
            while i + (UNROLL - 1) * step < n {
                // SAFETY: the last of these elements is below n.
                unsafe {
                    let values: [$type; UNROLL] = core::array::from_fn(|k| ldg(input.add(i + k * step)));
                    for k in 0..UNROLL {
                        stcs(out.add(i + k * step), values[k]);
                    }
                }
                i += UNROLL * step;
            }
            while i < n {
                // SAFETY: i is below n.
                unsafe { stcs(out.add(i), ldg(input.add(i))) };
                i += step;
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
