//! Numbers in which routines compute.

use std::num::Wrapping;
use std::ops::Neg;

use matrixmultiply::CGemmOption::Standard;
use num_complex::Complex;
use num_traits::NumAssign;

use super::kind::Wide;

/// A matrix in memory: where it begins, and how many elements apart its rows and columns are.
#[derive(Clone, Copy)]
pub(super) struct Strided<P> {
    pub(super) start: P,
    pub(super) row: isize,
    pub(super) column: isize,
}

pub(super) trait Number: Copy + Send + Sync + NumAssign + Neg<Output = Self> + 'static {
    fn wide(self) -> Wide;
    /// The nearest number of this type.
    fn narrow(wide: Wide) -> Self;

    /// Adds to `c` the product of `a` and `b`, of `[m, k, n]` rows and columns.
    ///
    /// # Safety
    /// The matrices are there, and nobody else uses the last one now.
    unsafe fn add_product(size: [usize; 3], a: Strided<*const Self>, b: Strided<*const Self>, c: Strided<*mut Self>);

    fn conjugate(self) -> Self {
        Self::narrow(self.wide().conj())
    }

    /// Without its imaginary part.
    fn real(self) -> Self {
        Self::narrow(self.wide().re.into())
    }
}

impl Number for f32 {
    fn wide(self) -> Wide {
        f64::from(self).into()
    }

    fn narrow(wide: Wide) -> Self {
        wide.re as f32
    }

    unsafe fn add_product([m, k, n]: [usize; 3], a: Strided<*const f32>, b: Strided<*const f32>, c: Strided<*mut f32>) {
        // SAFETY: the caller's promise.
        unsafe {
            matrixmultiply::sgemm(
                m, k, n, 1.0, a.start, a.row, a.column, b.start, b.row, b.column, 1.0, c.start, c.row, c.column,
            );
        }
    }
}

impl Number for f64 {
    fn wide(self) -> Wide {
        self.into()
    }

    fn narrow(wide: Wide) -> Self {
        wide.re
    }

    unsafe fn add_product([m, k, n]: [usize; 3], a: Strided<*const f64>, b: Strided<*const f64>, c: Strided<*mut f64>) {
        // SAFETY: the caller's promise.
        unsafe {
            matrixmultiply::dgemm(
                m, k, n, 1.0, a.start, a.row, a.column, b.start, b.row, b.column, 1.0, c.start, c.row, c.column,
            );
        }
    }
}

impl Number for Complex<f32> {
    fn wide(self) -> Wide {
        Complex::new(self.re.into(), self.im.into())
    }

    fn narrow(wide: Wide) -> Self {
        Complex::new(wide.re as f32, wide.im as f32)
    }

    unsafe fn add_product(
        [m, k, n]: [usize; 3],
        a: Strided<*const Self>,
        b: Strided<*const Self>,
        c: Strided<*mut Self>,
    ) {
        let (one, a_start, b_start) = ([1.0, 0.0], a.start.cast(), b.start.cast());
        // SAFETY: the caller's promise. A complex number is its two parts.
        unsafe {
            matrixmultiply::cgemm(
                Standard,
                Standard,
                m,
                k,
                n,
                one,
                a_start,
                a.row,
                a.column,
                b_start,
                b.row,
                b.column,
                one,
                c.start.cast(),
                c.row,
                c.column,
            );
        }
    }
}

impl Number for Complex<f64> {
    fn wide(self) -> Wide {
        self
    }

    fn narrow(wide: Wide) -> Self {
        wide
    }

    unsafe fn add_product(
        [m, k, n]: [usize; 3],
        a: Strided<*const Self>,
        b: Strided<*const Self>,
        c: Strided<*mut Self>,
    ) {
        let (one, a_start, b_start) = ([1.0, 0.0], a.start.cast(), b.start.cast());
        // SAFETY: the caller's promise. A complex number is its two parts.
        unsafe {
            matrixmultiply::zgemm(
                Standard,
                Standard,
                m,
                k,
                n,
                one,
                a_start,
                a.row,
                a.column,
                b_start,
                b.row,
                b.column,
                one,
                c.start.cast(),
                c.row,
                c.column,
            );
        }
    }
}

impl Number for Wrapping<i32> {
    fn wide(self) -> Wide {
        f64::from(self.0).into()
    }

    fn narrow(wide: Wide) -> Self {
        Wrapping(wide.re as i32)
    }

    unsafe fn add_product(
        [m, k, n]: [usize; 3],
        a: Strided<*const Self>,
        b: Strided<*const Self>,
        c: Strided<*mut Self>,
    ) {
        // SAFETY: the caller's promise: each of these elements is there.
        unsafe {
            for column in 0..n as isize {
                for middle in 0..k as isize {
                    let factor = *b.start.offset(middle * b.row + column * b.column);
                    for row in 0..m as isize {
                        let sum = c.start.offset(row * c.row + column * c.column);
                        *sum += *a.start.offset(row * a.row + middle * a.column) * factor;
                    }
                }
            }
        }
    }
}
