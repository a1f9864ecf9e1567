//! Loops of which several iterations are one: Rust has no `#pragma unroll`.

use core::ops::Range;

use crate::whole;

/// The most iterations that [`unrolled`] puts into one.
const MOST: usize = 8;

/// Calls `each` with every `step`th number of the range, in order, `N` of them in each iteration of a loop.
///
/// It is `for i in range.step_by(step)`, unrolled: the loads of `N` calls can be on their way at once, and the loop's own
/// instructions are there once for all of them. What is left after the last `N` is a second loop, one call at a time. `N` is from
/// 1 to 8. Each of its calls is a copy of the code, and the loads of each need registers.
///
/// ```
/// use ptx_intrinsics::prelude::*;
/// use ptx_kernel::*;
///
/// kernel! {
///     /// Adds up each row of a matrix of as many rows as there are warps.
///     ///
///     /// # Safety
///     /// `matrix` points at `columns` elements for each warp of the grid, `out` at one. A block is whole warps.
///     pub unsafe fn row_sums(out: *mut f32, matrix: *const f32, columns: u32) {
///         let row = global_index() / WARP_SIZE;
///         let mut sum = 0.0;
///         // SAFETY: the element is one of the row; all threads come to the shuffles.
///         unsafe {
///             unrolled::<4>(lane_id()..columns, WARP_SIZE, |column| {
///                 sum += ldg(matrix.add((row * columns + column) as usize));
///             });
///             for mask in [16, 8, 4, 2, 1] {
///                 sum += shuffle_xor(sum, mask);
///             }
///             if lane_id() == 0 {
///                 *out.add(row as usize) = sum;
///             }
///         }
///     }
/// }
///
/// let (matrix, mut out) = (vec![0.5; 8 * 1000], [0.0; 8]);
/// let (from, to) = (matrix.as_ptr(), out.as_mut_ptr());
/// // SAFETY: eight warps, eight rows of 1,000 elements.
/// unsafe { cpu::Launch::new(2, 128).run(|| row_sums(to, from, 1000)) };
/// assert_eq!(out, [500.0; 8]);
/// ```
///
/// The range may end at the greatest `u32`.
///
/// # Panics
/// If `step` is 0 and debug assertions are on. Without them the loop is endless.
#[doc(alias = "unroll", alias = "step_by")]
#[inline(always)]
pub fn unrolled<const N: usize>(range: Range<u32>, step: u32, mut each: impl FnMut(u32)) {
    const { assert!(N >= 1 && N <= MOST, "unrolled: from 1 to 8 iterations can be one") };
    debug_assert!(step > 0, "unrolled: a step is at least 1");
    let Range { start: mut at, end } = range;
    // Before it there are N numbers, and the one after them is below 2^32.
    let last = end.min(step.wrapping_neg()).saturating_sub(step.saturating_mul(N as u32 - 1));
    while at < last {
        // Else the compiler would keep a pointer for each array, in two registers, and fewer loads would be on their way.
        let first = whole(at);
        macro_rules! calls {
            ($($k:literal)*) => { $(
                if $k < N {
                    each(first + $k as u32 * step);
                }
            )* };
        }
        calls! { 0 1 2 3 4 5 6 7 }
        at += N as u32 * step;
    }
    while at < end {
        each(at);
        at = at.saturating_add(step);
    }
}
