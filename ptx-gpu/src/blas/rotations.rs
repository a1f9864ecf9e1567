//! Rotations of pairs of elements.

use super::compute::computes;
use super::exports;
use super::handle::library_of;
use super::kind::Kind::{self, C32, C64, F32, F64};
use super::kind::Wide;
use super::level1::{of, same, vector};
use super::matrix::Matrix;
use super::number::Number;
use super::operand::{View, When};
use super::status::NOT_SUPPORTED;
use crate::handle::Handle;
use crate::status::Result;

/// `x = c * x + s * y`, and `y = c * y - conj(s) * x`
fn rot(
    [kind, c_kind, s_kind]: [Kind; 3],
    handle: Handle,
    n: i64,
    x: u64,
    incx: i64,
    y: u64,
    incy: i64,
    c: u64,
    s: u64,
) -> Result {
    let library = library_of(handle)?;
    let (x, y) = (vector("x", kind, x, n, incx).writes(), vector("y", kind, y, n, incy).writes());
    let scalars = vec![library.scalar("c", c_kind, c)?, library.scalar("s", s_kind, s)?];
    let does = computes!(kind.compute(), T => |scalars: &[Wide], views| {
        let (c, s) = (T::narrow(scalars[0]), T::narrow(scalars[1]));
        turn(views, [c, s, -s.conjugate(), c]);
    });
    library.submit(scalars, vec![x, y], 1, does)
}

/// Multiplies each pair of elements with a matrix of two rows.
fn turn<T: Number>(views: &[View], [a, b, c, d]: [T; 4]) {
    let [x, y] = views else { return };
    let (of_x, of_y) = (x.load::<T>(), y.load::<T>());
    let sum = |of_first: T, of_second: T| {
        Matrix::new(of_x.rows, 1, |at, _| of_first * of_x.at(at, 0) + of_second * of_y.at(at, 0))
    };
    x.store(&sum(a, b));
    y.store(&sum(c, d));
}

fn rot_ex(
    handle: Handle,
    n: i64,
    x: u64,
    x_kind: u32,
    incx: i64,
    y: u64,
    y_kind: u32,
    incy: i64,
    c: u64,
    s: u64,
    scalar_kind: u32,
    _computed: u32,
) -> Result {
    let (kind, scalar) = (same(&[x_kind, y_kind])?, of(scalar_kind)?);
    rot([kind, scalar.real(), scalar], handle, n, x, incx, y, incy, c, s)
}

/// The matrix of a modified rotation is in five numbers, of which the first says what the others are.
fn rotm(kind: Kind, handle: Handle, n: i64, x: u64, incx: i64, y: u64, incy: i64, parameters: u64) -> Result {
    let library = library_of(handle)?;
    let (x, y) = (vector("x", kind, x, n, incx).writes(), vector("y", kind, y, n, incy).writes());
    let at = |number: u64| library.scalar("param", kind, parameters + number * kind.bytes() as u64);
    let scalars = (0..5).map(at).collect::<Result<_>>()?;
    let does = computes!(kind.compute(), T => |scalars: &[Wide], views| {
        let of = |number: f64| T::narrow(number.into());
        let [h11, h21, h12, h22] = [1, 2, 3, 4].map(|at| T::narrow(scalars[at]));
        match scalars[0].re {
            -1.0 => turn(views, [h11, h12, h21, h22]),
            0.0 => turn(views, [of(1.0), h12, h21, of(1.0)]),
            1.0 => turn(views, [h11, of(1.0), of(-1.0), h22]),
            _ => {}
        }
    });
    library.submit(scalars, vec![x, y], 1, does)
}

/// Numbers that a routine changes, by what each is called and where it is.
fn change<const N: usize>(
    handle: Handle,
    all: [(&'static str, Kind, u64); N],
    inputs: usize,
    compute: fn([Wide; N]) -> [Wide; N],
) -> Result {
    let library = library_of(handle)?;
    let mut operands = Vec::new();
    for (number, (name, kind, at)) in all.into_iter().enumerate() {
        let reads = if number < inputs { When::Always } else { When::Never };
        operands.push(library.result(name, kind, at)?.reads(reads));
    }
    let does = move |_: &[Wide], views: &[View]| {
        let values =
            std::array::from_fn(|at| if at < inputs { views[at].load::<Wide>().at(0, 0) } else { Wide::default() });
        let values = compute(values);
        views.iter().zip(values).for_each(|(view, value)| view.store_by(|_, _| value));
    };
    library.submit(vec![], operands, 1, Box::new(does))
}

fn rotg([kind, c_kind]: [Kind; 2], handle: Handle, a: u64, b: u64, c: u64, s: u64) -> Result {
    let compute = if kind.is_complex() { complex_rotation } else { rotation };
    change(handle, [("a", kind, a), ("b", kind, b), ("c", c_kind, c), ("s", kind, s)], 2, compute)
}

/// A rotation that makes b zero: r, how the rotation can be found again, c and s.
fn rotation([a, b, ..]: [Wide; 4]) -> [Wide; 4] {
    let (a, b) = (a.re, b.re);
    let r = a.hypot(b).copysign(if a.abs() > b.abs() { a } else { b });
    if r == 0.0 {
        return [0.0, 0.0, 1.0, 0.0].map(Wide::from);
    }
    let (c, s) = (a / r, b / r);
    let again = match (a.abs() > b.abs(), c == 0.0) {
        (true, _) => s,
        (false, false) => 1.0 / c,
        (false, true) => 1.0,
    };
    [r, again, c, s].map(Wide::from)
}

fn complex_rotation([a, b, ..]: [Wide; 4]) -> [Wide; 4] {
    let size = a.norm();
    if size == 0.0 {
        return [b, b, 0.0.into(), 1.0.into()];
    }
    let (both, direction) = (size.hypot(b.norm()), a / size);
    [direction * both, b, (size / both).into(), direction * b.conj() / both]
}

fn rotmg(kind: Kind, handle: Handle, d1: u64, d2: u64, x1: u64, y1: u64, parameters: u64) -> Result {
    let at = |number: u64| ("param", kind, parameters + number * kind.bytes() as u64);
    let all =
        [("d1", kind, d1), ("d2", kind, d2), ("x1", kind, x1), ("y1", kind, y1), at(0), at(1), at(2), at(3), at(4)];
    change(handle, all, 4, modified_rotation)
}

/// Factors from which on the numbers of a modified rotation are scaled.
const SCALE: f64 = 4096.0;

/// A modified rotation that makes the second element zero, of `d1`, `d2`, `x1` and `y1`.
fn modified_rotation(all: [Wide; 9]) -> [Wide; 9] {
    let [d1, d2, x1, y1] = [0, 1, 2, 3].map(|at: usize| all[at].re);
    let done = |d: [f64; 2], x1: f64, flag: f64, h: [f64; 4]| {
        [d[0], d[1], x1, y1, flag, h[0], h[1], h[2], h[3]].map(Wide::from)
    };
    let nothing = done([0.0; 2], 0.0, -1.0, [0.0; 4]);
    if d1 < 0.0 {
        return nothing;
    }
    let (p1, p2) = (d1 * x1, d2 * y1);
    if p2 == 0.0 {
        return done([d1, d2], x1, -2.0, [0.0; 4]);
    }
    let (q1, q2) = (p1 * x1, p2 * y1);
    // The matrix is by columns.
    let (mut d, mut x, mut flag, mut h);
    if q1.abs() > q2.abs() {
        let (h21, h12) = (-y1 / x1, p2 / p1);
        let u = 1.0 - h12 * h21;
        if u <= 0.0 {
            return nothing;
        }
        (d, x, flag, h) = ([d1 / u, d2 / u], x1 * u, 0.0, [1.0, h21, h12, 1.0]);
    } else if q2 < 0.0 {
        return nothing;
    } else {
        let (h11, h22) = (p1 / p2, x1 / y1);
        let u = 1.0 + h11 * h22;
        (d, x, flag, h) = ([d2 / u, d1 / u], y1 * u, 1.0, [h11, -1.0, 1.0, h22]);
    }
    for row in 0..2 {
        while d[row] != 0.0 && !(1.0 / (SCALE * SCALE)..=SCALE * SCALE).contains(&d[row].abs()) {
            let factor = if d[row].abs() > SCALE { SCALE } else { 1.0 / SCALE };
            flag = -1.0;
            d[row] /= factor * factor;
            x *= if row == 0 { factor } else { 1.0 };
            h[row] *= factor;
            h[row + 2] *= factor;
        }
    }
    // What the flag says by itself is not written on a GPU either, and is zero here.
    let kept = match flag {
        0.0 => [0.0, h[1], h[2], 0.0],
        1.0 => [h[0], 0.0, 0.0, h[3]],
        _ => h,
    };
    done(d, x, flag, kept)
}

/// With the types of all numbers.
fn rotm_ex(
    handle: Handle,
    n: i64,
    x: u64,
    x_kind: u32,
    incx: i64,
    y: u64,
    y_kind: u32,
    incy: i64,
    parameters: u64,
    parameters_kind: u32,
    _computed: u32,
) -> Result {
    rotm(same(&[x_kind, y_kind, parameters_kind])?, handle, n, x, incx, y, incy, parameters)
}

fn rotg_ex(handle: Handle, a: u64, b: u64, kind: u32, c: u64, s: u64, scalar_kind: u32, _computed: u32) -> Result {
    let (kind, scalar) = (of(kind)?, of(scalar_kind)?);
    if kind.real() != scalar.real() {
        return Err(NOT_SUPPORTED);
    }
    rotg([kind, kind.real()], handle, a, b, c, s)
}

fn rotmg_ex(
    handle: Handle,
    d1: u64,
    d1_kind: u32,
    d2: u64,
    d2_kind: u32,
    x1: u64,
    x1_kind: u32,
    y1: u64,
    y1_kind: u32,
    parameters: u64,
    parameters_kind: u32,
    _computed: u32,
) -> Result {
    let kind = same(&[d1_kind, d2_kind, x1_kind, y1_kind, parameters_kind])?;
    rotmg(kind, handle, d1, d2, x1, y1, parameters)
}

exports! {
    rot (handle: Handle, n: Int, x: u64, incx: Int, y: u64, incy: Int, c: u64, s: u64) {
        cublasSrot_v2([F32; 3]) cublasDrot_v2([F64; 3]) cublasCrot_v2([C32, F32, C32]) cublasZrot_v2([C64, F64, C64])
        cublasCsrot_v2([C32, F32, F32]) cublasZdrot_v2([C64, F64, F64])
    }
    rot_ex (handle: Handle, n: Int, x: u64, x_kind: u32, incx: Int, y: u64, y_kind: u32, incy: Int, c: u64, s: u64,
        scalar_kind: u32, computed: u32) {
        cublasRotEx()
    }
    rotm (handle: Handle, n: Int, x: u64, incx: Int, y: u64, incy: Int, parameters: u64) {
        cublasSrotm_v2(F32) cublasDrotm_v2(F64)
    }
    rotm_ex (handle: Handle, n: Int, x: u64, x_kind: u32, incx: Int, y: u64, y_kind: u32, incy: Int, parameters: u64,
        parameters_kind: u32, computed: u32) {
        cublasRotmEx()
    }
    rotg (handle: Handle, a: u64, b: u64, c: u64, s: u64) {
        cublasSrotg_v2([F32; 2]) cublasDrotg_v2([F64; 2]) cublasCrotg_v2([C32, F32]) cublasZrotg_v2([C64, F64])
    }
    rotg_ex (handle: Handle, a: u64, b: u64, kind: u32, c: u64, s: u64, scalar_kind: u32, computed: u32) {
        cublasRotgEx()
    }
    rotmg (handle: Handle, d1: u64, d2: u64, x1: u64, y1: u64, parameters: u64) {
        cublasSrotmg_v2(F32) cublasDrotmg_v2(F64)
    }
    rotmg_ex (handle: Handle, d1: u64, d1_kind: u32, d2: u64, d2_kind: u32, x1: u64, x1_kind: u32, y1: u64, y1_kind: u32,
        parameters: u64, parameters_kind: u32, computed: u32) {
        cublasRotmgEx()
    }
}
