//! What routines compute, on the operands of one member of a batch.

use super::kind::Wide;
use super::matrix::{Fill, Matrix, Op, Part};
use super::number::Number;
use super::operand::View;

/// A function of the scalars and the operands, in the type that a [`Compute`](super::kind::Compute) stands for.
macro_rules! computes {
    (@ $number:ty, $type:ident, $does:expr) => {{
        type $type = $number;
        let does: $crate::blas::call::Compute = Box::new($does);
        does
    }};
    ($compute:expr, $type:ident => $does:expr) => {
        match $compute {
            $crate::blas::kind::Compute::F32 => $crate::blas::compute::computes!(@ f32, $type, $does),
            $crate::blas::kind::Compute::F64 => $crate::blas::compute::computes!(@ f64, $type, $does),
            $crate::blas::kind::Compute::C32 => $crate::blas::compute::computes!(@ num_complex::Complex<f32>, $type, $does),
            $crate::blas::kind::Compute::C64 => $crate::blas::compute::computes!(@ num_complex::Complex<f64>, $type, $does),
            $crate::blas::kind::Compute::I32 => $crate::blas::compute::computes!(@ std::num::Wrapping<i32>, $type, $does),
        }
    };
}

pub(super) use computes;

/// `C = sum + beta * C`. What is not stored of C stays.
pub(super) fn put<T: Number>(c: &View, sum: Matrix<T>, beta: Wide) {
    c.store(&plus_old(c, sum, beta));
}

fn plus_old<T: Number>(c: &View, sum: Matrix<T>, beta: Wide) -> Matrix<T> {
    if beta == Wide::default() { sum } else { sum.plus(&c.load::<T>().scaled(T::narrow(beta))) }
}

/// A matrix of zeros, as large as an operand.
fn nothing<T: Number>(of: &View) -> Matrix<T> {
    Matrix::zero(of.operand.rows, of.operand.columns)
}

/// A factor times what is computed, which is not computed if the factor is zero.
pub(super) fn times<T: Number>(alpha: Wide, of: &View, sum: impl FnOnce() -> Matrix<T>) -> Matrix<T> {
    if alpha == Wide::default() { nothing(of) } else { sum().scaled(T::narrow(alpha)) }
}

/// `C = alpha * op(A) * op(B) + beta * C`
pub(super) fn product<T: Number>(scalars: &[Wide], views: &[View], [op_a, op_b]: [Op; 2]) {
    let [a, b, c] = views else { return };
    let sum = times(scalars[0], c, || a.load::<T>().op(op_a).times(&b.load().op(op_b)));
    put(c, sum, scalars[1]);
}

/// A matrix of which a triangle is stored, on one side of the other: `C = alpha * A * B + beta * C`.
pub(super) fn filled_product<T: Number>(scalars: &[Wide], views: &[View], (part, fill): (Part, Fill), is_left: bool) {
    let [a, b, c] = views else { return };
    let sum = times(scalars[0], c, || {
        let (a, b) = (a.load::<T>().filled(part, fill), b.load::<T>());
        if is_left { a.times(&b) } else { b.times(&a) }
    });
    put(c, sum, scalars[1]);
}

/// A triangle on one side of the other: `C = alpha * op(A) * B`.
pub(super) fn triangular_product<T: Number>(
    scalars: &[Wide],
    views: &[View],
    (part, fill, op): (Part, Fill, Op),
    is_left: bool,
) {
    let [a, b, c] = views else { return };
    let sum = times(scalars[0], c, || {
        let (a, b) = (a.load::<T>().filled(part, fill).op(op), b.load::<T>());
        if is_left { a.times(&b) } else { b.times(&a) }
    });
    c.store(&sum);
}

/// Solves `op(A) * X = alpha * B`, or `X * op(A) = alpha * B`. B becomes X.
pub(super) fn solve<T: Number>(scalars: &[Wide], views: &[View], (part, fill, op): (Part, Fill, Op), is_left: bool) {
    let [a, b] = views else { return };
    let solution = times(scalars[0], b, || {
        let (a, b) = (a.load::<T>().filled(part, fill).op(op), b.load::<T>());
        let part = part.after(op);
        match is_left {
            true => a.solve(part, b),
            false => a.op(Op::Transposed).solve(part.after(Op::Transposed), b.op(Op::Transposed)).op(Op::Transposed),
        }
    });
    b.store(&solution);
}

/// `C = alpha * op(A) * op(B)^T + beta * C`, of which a triangle is stored; with the adjoint of the second for `is_hermitian`. If it
/// `is_doubled`, the same with A and B exchanged is added.
pub(super) fn update<T: Number>(scalars: &[Wide], views: &[View], op: Op, is_hermitian: bool, is_doubled: bool) {
    let (a, b, c) = match views {
        [a, c] => (a, a, c),
        [a, b, c] => (a, b, c),
        _ => return,
    };
    let other = if is_hermitian { Op::Adjoint } else { Op::Transposed };
    let alpha = T::narrow(scalars[0]);
    let sum = times(scalars[0], c, || {
        let (a, b) = (a.load::<T>().op(op), b.load::<T>().op(op));
        let product = a.times(&b.clone().op(other));
        if !is_doubled {
            return product;
        }
        // The second has the conjugate of alpha, and all is multiplied by alpha.
        let factor = if is_hermitian { alpha.conjugate() / alpha } else { T::one() };
        product.plus(&b.times(&a.op(other)).scaled(factor))
    });
    let mut sum = plus_old(c, sum, scalars[1]);
    if is_hermitian {
        (0..sum.rows).for_each(|at| *sum.at_mut(at, at) = sum.at(at, at).real());
    }
    c.store(&sum);
}
