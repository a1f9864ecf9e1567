//! Loops of which several iterations are one, or all are written out: Rust has no `#pragma unroll`.

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
///     /// Adds up each row of a matrix with one row for each warp.
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
        not_unrolled();
        // Else the compiler would keep a pointer for each array, in two registers, and fewer loads would be on their way.
        let first = whole(at);
        // SAFETY: up to the number after the last call they are below 2^32, by the choice of `last`. The compiler has to know
        // that: it folds a sum that may wrap into no address.
        let after = |k: u32| unsafe { first.unchecked_add(k.unchecked_mul(step)) };
        macro_rules! calls {
            ($($k:literal)*) => { $(
                if $k < N {
                    each(after($k));
                }
            )* };
        }
        calls! { 0 1 2 3 4 5 6 7 }
        at = after(N as u32);
    }
    while at < end {
        not_unrolled();
        each(at);
        at = at.saturating_add(step);
    }
}

/// Has ptxas leave the loop as it is whose first line this is: it would put four iterations into one once more, those that are left
/// over too.
#[inline(always)]
fn not_unrolled() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!(".pragma \"nounroll\";", options(nomem, nostack, preserves_flags));
    }
}

/// A `for` loop that is written out: its body is there once for each number of a constant range, and in each copy the number is a
/// constant.
///
/// Registers have no index. So an array stays in registers only if every index of it is a constant; else it goes to local memory, which
/// is slow. The compiler decides which `for` loop it unrolls, and leaves those with a long body as they are. This one is never a
/// loop, in dev builds too.
///
/// ```
/// use ptx_kernel::*;
///
/// /// Numbers that a thread holds.
/// const EACH: usize = 4;
///
/// kernel! {
///     /// Doubles `EACH` elements for each thread.
///     ///
///     /// # Safety
///     /// `x` points at `EACH` elements for each thread of the grid, and nobody else touches them.
///     pub unsafe fn double(x: *mut f32) {
///         let (i, step) = (global_index(), global_size());
///         let mut held = [0.0; EACH];
///         // SAFETY: the elements are of this thread.
///         unsafe {
///             unroll!(for k in 0..EACH {
///                 held[k] = *x.add((i + k as u32 * step) as usize);
///             });
///             unroll!(for k in 0..EACH {
///                 *x.add((i + k as u32 * step) as usize) = 2.0 * held[k];
///             });
///         }
///     }
/// }
///
/// let mut x = [1.5; 2 * 32 * EACH];
/// let to = x.as_mut_ptr();
/// // SAFETY: `x` has `EACH` elements for each thread.
/// unsafe { cpu::Launch::new(2, 32).run(|| double(to)) };
/// assert_eq!(x, [3.0; 2 * 32 * EACH]);
/// ```
///
/// The range is `from..to`, of any integer type, both constants: generic ones too. It has at most 16 numbers; loops may be nested.
/// `return` and `?` leave the function. `break` and `continue` are errors, because there is no loop:
///
/// ```compile_fail,E0695
/// ptx_kernel::unroll!(for k in 0..4 {
///     if k == 2 {
///         break;
///     }
/// });
/// ```
///
/// So is a longer range, and an end that is no constant:
///
/// ```compile_fail,E0080
/// ptx_kernel::unroll!(for k in 0..17 {});
/// ```
///
/// ```compile_fail,E0435
/// let n = 4;
/// ptx_kernel::unroll!(for k in 0..n {});
/// ```
#[macro_export]
macro_rules! unroll {
    (for $k:ident in $($rest:tt)+) => {
        $crate::__unroll!($k [] $($rest)+)
    };
}

/// Splits what follows `in` into the range and the body, which is the last.
#[doc(hidden)]
#[macro_export]
macro_rules! __unroll {
    ($k:ident [$($range:tt)+] $body:block) => {
        $crate::__unroll!(@copies $k ($($range)+) $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($k:ident [$($range:tt)*] $next:tt $($rest:tt)+) => {
        $crate::__unroll!($k [$($range)* $next] $($rest)+)
    };
    (@copies $k:ident $range:tt $body:block $($at:literal)+) => {{
        const { assert!($range.start + 16 >= $range.end, "unroll!: at most 16 iterations can be written out") };
        $(
            if const { $range.start + $at < $range.end } {
                #[allow(unused_variables)]
                let $k = const { $range.start + $at };
                // Not the next iteration of some loop around it: in a block with a label, `break` and `continue` are errors.
                #[allow(unused_labels)]
                'copy: { $body }
            }
        )+
    }};
}
