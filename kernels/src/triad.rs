//! STREAM's triad, `a = b + s · c`: nothing is used twice, so bandwidth is all there is.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Each line is read once and whole: it need not enter L1, and L2 may fetch its neighbour.
const STREAM: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// How many iterations have their loads in flight at once: four 128-bit loads and 2,048 threads
/// keep 128 KiB of a multiprocessor's bandwidth asked for; more only costs threads their registers.
const UNROLL: usize = 2;

kernel! {
    /// Computes `a[i] = b[i] + s * c[i]`, lane by lane, product and sum each rounded.
    ///
    /// # Safety
    /// `a` is valid for writes and `b` and `c` for reads of `n` elements, fewer than 2^31; nobody else touches `a`
    /// and nobody writes to `b` and `c` while the grid runs.
    pub unsafe fn triad(
        a: *mut V4<f32>,
        b: *const V4<f32>,
        c: *const V4<f32>,
        s: f32,
        n: usize,
    ) {
        // Times the size of a vector, a number of 32 bits is one instruction.
        let (n, step) = (n as u32, global_size());
        let mut i = global_index();
        while i + (UNROLL as u32 - 1) * step < n {
            let mut at = [i; UNROLL];
            for k in 1..UNROLL {
                at[k] = whole(at[k - 1] + step);
            }
            // SAFETY: the last of these elements is below n, by the loop's condition.
            unsafe {
                let b: [V4<f32>; UNROLL] = core::array::from_fn(|k| STREAM.read(b.add(at[k] as usize)));
                let c: [V4<f32>; UNROLL] = core::array::from_fn(|k| STREAM.read(c.add(at[k] as usize)));
                for k in 0..UNROLL {
                    st_global::<Cs>().write(a.add(at[k] as usize), multiply_add(b[k], s, c[k]));
                }
            }
            i = at[UNROLL - 1] + step;
        }
        while i < n {
            // SAFETY: i is below n.
            unsafe {
                let sum = multiply_add(STREAM.read(b.add(i as usize)), s, STREAM.read(c.add(i as usize)));
                st_global::<Cs>().write(a.add(i as usize), sum);
            }
            i += step;
        }
    }
}

#[inline(always)]
fn multiply_add(b: V4<f32>, s: f32, c: V4<f32>) -> V4<f32> {
    let ([b0, b1, b2, b3], [c0, c1, c2, c3]) = (b.0, c.0);
    V4::from([b0 + s * c0, b1 + s * c1, b2 + s * c2, b3 + s * c3])
}
