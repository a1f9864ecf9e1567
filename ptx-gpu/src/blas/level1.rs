//! Operations of vectors.

use super::compute::computes;
use super::exports;
use super::handle::library_of;
use super::kind::Kind::{self, Bf16, C32, C64, F16, F32, F64, I32, I64};
use super::kind::Wide;
use super::number::Number;
use super::operand::{Operand, View, When};
use super::status::NOT_SUPPORTED;
use crate::handle::Handle;
use crate::status::Result;

/// A vector: `step` is the number of elements from one to the next.
pub(super) fn vector(name: &'static str, kind: Kind, at: u64, count: i64, step: i64) -> Operand {
    Operand::vector(name, kind, at, count, step)
}

/// `y = alpha * x + y`
fn axpy(kind: Kind, handle: Handle, n: i64, alpha: u64, x: u64, incx: i64, y: u64, incy: i64) -> Result {
    axpy_of([kind; 3], handle, n, alpha, (x, incx), (y, incy))
}

fn axpy_of(
    [alpha_kind, x_kind, y_kind]: [Kind; 3],
    handle: Handle,
    n: i64,
    alpha: u64,
    (x, incx): (u64, i64),
    (y, incy): (u64, i64),
) -> Result {
    let library = library_of(handle)?;
    let x = vector("x", x_kind, x, n, incx).reads(When::Unless(0));
    let y = vector("y", y_kind, y, n, incy).reads(When::Unless(0)).writes();
    let scalars = vec![library.scalar("alpha", alpha_kind, alpha)?];
    let does = computes!(y_kind.compute(), T => move |scalars: &[Wide], views| {
        let [x, y] = views else { return };
        if scalars[0] != Wide::default() {
            y.store(&x.load::<T>().scaled(T::narrow(scalars[0])).plus(&y.load()));
        }
    });
    library.submit(scalars, vec![x, y], 1, does)
}

/// `x = alpha * x`
fn scal([alpha_kind, kind]: [Kind; 2], handle: Handle, n: i64, alpha: u64, x: u64, incx: i64) -> Result {
    let library = library_of(handle)?;
    let x = vector("x", kind, x, if incx > 0 { n } else { 0 }, incx).writes();
    let scalars = vec![library.scalar("alpha", alpha_kind, alpha)?];
    let does = computes!(kind.compute(), T => move |scalars: &[Wide], views| {
        let [x] = views else { return };
        x.store(&x.load::<T>().scaled(T::narrow(scalars[0])));
    });
    library.submit(scalars, vec![x], 1, does)
}

fn copy(kind: Kind, handle: Handle, n: i64, x: u64, incx: i64, y: u64, incy: i64) -> Result {
    let library = library_of(handle)?;
    let (x, y) = (vector("x", kind, x, n, incx), vector("y", kind, y, n, incy).result());
    let does = computes!(kind.compute(), T => |_: &[Wide], views| {
        let [x, y] = views else { return };
        y.store(&x.load::<T>());
    });
    library.submit(vec![], vec![x, y], 1, does)
}

fn swap(kind: Kind, handle: Handle, n: i64, x: u64, incx: i64, y: u64, incy: i64) -> Result {
    let library = library_of(handle)?;
    let (x, y) = (vector("x", kind, x, n, incx).writes(), vector("y", kind, y, n, incy).writes());
    let does = computes!(kind.compute(), T => |_: &[Wide], views| {
        let [x, y] = views else { return };
        let (of_x, of_y) = (x.load::<T>(), y.load::<T>());
        x.store(&of_y);
        y.store(&of_x);
    });
    library.submit(vec![], vec![x, y], 1, does)
}

/// The sum of products, of the conjugates of x if it `is_adjoint`.
fn dot(
    (kind, is_adjoint): (Kind, bool),
    handle: Handle,
    n: i64,
    x: u64,
    incx: i64,
    y: u64,
    incy: i64,
    result: u64,
) -> Result {
    let library = library_of(handle)?;
    let result = library.result("result", kind, result)?;
    let (x, y) = (vector("x", kind, x, n, incx), vector("y", kind, y, n, incy));
    let does = Box::new(move |_: &[Wide], views: &[View]| {
        let [x, y, result] = views else { return };
        let (x, y) = (x.load::<Wide>(), y.load::<Wide>());
        let product = |(x, y): (&Wide, &Wide)| if is_adjoint { x.conj() * y } else { x * y };
        let sum: Wide = x.content.iter().zip(&y.content).map(product).sum();
        result.store_by(|_, _| sum);
    });
    library.submit(vec![], vec![x, y, result], 1, does)
}

/// A number that a vector is summed up to.
fn reduced(
    kind: Kind,
    handle: Handle,
    n: i64,
    (x, incx): (u64, i64),
    (result, result_kind): (u64, Kind),
    of: fn(&[Wide]) -> f64,
) -> Result {
    let library = library_of(handle)?;
    let result = library.result("result", result_kind, result)?;
    let x = vector("x", kind, x, if incx > 0 { n } else { 0 }, incx);
    let does = Box::new(move |_: &[Wide], views: &[View]| {
        let [x, result] = views else { return };
        let number = of(&x.load::<Wide>().content);
        result.store_by(|_, _| number.into());
    });
    library.submit(vec![], vec![x, result], 1, does)
}

/// A function of all elements.
fn summed((kind, of): (Kind, fn(&[Wide]) -> f64), handle: Handle, n: i64, x: u64, incx: i64, result: u64) -> Result {
    reduced(kind, handle, n, (x, incx), (result, kind.real()), of)
}

/// Where the number of an element goes.
struct Index(u64, Kind);

impl From<*mut i32> for Index {
    fn from(at: *mut i32) -> Index {
        Index(at as u64, I32)
    }
}

impl From<*mut i64> for Index {
    fn from(at: *mut i64) -> Index {
        Index(at as u64, I64)
    }
}

/// The number of an element, from 1.
fn found(
    (kind, of): (Kind, fn(&[Wide]) -> f64),
    handle: Handle,
    n: i64,
    x: u64,
    incx: i64,
    Index(result, result_kind): Index,
) -> Result {
    reduced(kind, handle, n, (x, incx), (result, result_kind), of)
}

/// The root of the sum of all squares.
fn norm(all: &[Wide]) -> f64 {
    all.iter().map(Wide::norm_sqr).sum::<f64>().sqrt()
}

fn size(number: &Wide) -> f64 {
    number.re.abs() + number.im.abs()
}

fn sum_of_sizes(all: &[Wide]) -> f64 {
    all.iter().map(size).sum()
}

fn first_by(all: &[Wide], is_better: fn(f64, f64) -> bool) -> f64 {
    let better = |best: usize, other: usize| if is_better(size(&all[other]), size(&all[best])) { other } else { best };
    (0..all.len()).reduce(better).map_or(0.0, |at| at as f64 + 1.0)
}

fn greatest(all: &[Wide]) -> f64 {
    first_by(all, |other, best| other > best)
}

fn smallest(all: &[Wide]) -> f64 {
    first_by(all, |other, best| other < best)
}

fn axpy_ex(
    handle: Handle,
    n: i64,
    alpha: u64,
    alpha_kind: u32,
    x: u64,
    x_kind: u32,
    incx: i64,
    y: u64,
    y_kind: u32,
    incy: i64,
    _computed: u32,
) -> Result {
    let kinds = [of(alpha_kind)?, of(x_kind)?, of(y_kind)?];
    axpy_of(kinds, handle, n, alpha, (x, incx), (y, incy))
}

pub(super) fn of(number: u32) -> Result<Kind> {
    let known = Kind::of(number).ok_or(NOT_SUPPORTED)?;
    if matches!(known, F32 | F64 | C32 | C64 | F16 | Bf16) { Ok(known) } else { Err(NOT_SUPPORTED) }
}

/// Errors: the types of both are not the same.
pub(super) fn same(kinds: &[u32]) -> Result<Kind> {
    if kinds.windows(2).all(|pair| pair[0] == pair[1]) { of(kinds[0]) } else { Err(NOT_SUPPORTED) }
}

fn scal_ex(
    handle: Handle,
    n: i64,
    alpha: u64,
    alpha_kind: u32,
    x: u64,
    x_kind: u32,
    incx: i64,
    _computed: u32,
) -> Result {
    scal([of(alpha_kind)?, of(x_kind)?], handle, n, alpha, x, incx)
}

fn copy_ex(handle: Handle, n: i64, x: u64, x_kind: u32, incx: i64, y: u64, y_kind: u32, incy: i64) -> Result {
    copy(same(&[x_kind, y_kind])?, handle, n, x, incx, y, incy)
}

fn swap_ex(handle: Handle, n: i64, x: u64, x_kind: u32, incx: i64, y: u64, y_kind: u32, incy: i64) -> Result {
    swap(same(&[x_kind, y_kind])?, handle, n, x, incx, y, incy)
}

fn dot_ex(
    is_adjoint: bool,
    handle: Handle,
    n: i64,
    x: u64,
    x_kind: u32,
    incx: i64,
    y: u64,
    y_kind: u32,
    incy: i64,
    result: u64,
    result_kind: u32,
    _computed: u32,
) -> Result {
    dot((same(&[x_kind, y_kind, result_kind])?, is_adjoint), handle, n, x, incx, y, incy, result)
}

fn summed_ex(
    of_all: fn(&[Wide]) -> f64,
    handle: Handle,
    n: i64,
    x: u64,
    x_kind: u32,
    incx: i64,
    result: u64,
    result_kind: u32,
    _computed: u32,
) -> Result {
    reduced(of(x_kind)?, handle, n, (x, incx), (result, of(result_kind)?), of_all)
}

fn found_ex(
    of_all: fn(&[Wide]) -> f64,
    handle: Handle,
    n: i64,
    x: u64,
    x_kind: u32,
    incx: i64,
    result: Index,
) -> Result {
    found((of(x_kind)?, of_all), handle, n, x, incx, result)
}

exports! {
    axpy (handle: Handle, n: Int, alpha: u64, x: u64, incx: Int, y: u64, incy: Int) {
        cublasSaxpy_v2(F32) cublasDaxpy_v2(F64) cublasCaxpy_v2(C32) cublasZaxpy_v2(C64)
    }
    axpy_ex (handle: Handle, n: Int, alpha: u64, alpha_kind: u32, x: u64, x_kind: u32, incx: Int, y: u64, y_kind: u32,
        incy: Int, computed: u32) {
        cublasAxpyEx()
    }
    scal (handle: Handle, n: Int, alpha: u64, x: u64, incx: Int) {
        cublasSscal_v2([F32; 2]) cublasDscal_v2([F64; 2]) cublasCscal_v2([C32; 2]) cublasZscal_v2([C64; 2])
        cublasCsscal_v2([F32, C32]) cublasZdscal_v2([F64, C64])
    }
    scal_ex (handle: Handle, n: Int, alpha: u64, alpha_kind: u32, x: u64, x_kind: u32, incx: Int, computed: u32) {
        cublasScalEx()
    }
    copy (handle: Handle, n: Int, x: u64, incx: Int, y: u64, incy: Int) {
        cublasScopy_v2(F32) cublasDcopy_v2(F64) cublasCcopy_v2(C32) cublasZcopy_v2(C64)
    }
    copy_ex (handle: Handle, n: Int, x: u64, x_kind: u32, incx: Int, y: u64, y_kind: u32, incy: Int) {
        cublasCopyEx()
    }
    swap (handle: Handle, n: Int, x: u64, incx: Int, y: u64, incy: Int) {
        cublasSswap_v2(F32) cublasDswap_v2(F64) cublasCswap_v2(C32) cublasZswap_v2(C64)
    }
    swap_ex (handle: Handle, n: Int, x: u64, x_kind: u32, incx: Int, y: u64, y_kind: u32, incy: Int) {
        cublasSwapEx()
    }
    dot (handle: Handle, n: Int, x: u64, incx: Int, y: u64, incy: Int, result: u64) {
        cublasSdot_v2((F32, false)) cublasDdot_v2((F64, false)) cublasCdotu_v2((C32, false)) cublasZdotu_v2((C64, false))
        cublasCdotc_v2((C32, true)) cublasZdotc_v2((C64, true))
    }
    dot_ex (handle: Handle, n: Int, x: u64, x_kind: u32, incx: Int, y: u64, y_kind: u32, incy: Int, result: u64,
        result_kind: u32, computed: u32) {
        cublasDotEx(false) cublasDotcEx(true)
    }
    summed (handle: Handle, n: Int, x: u64, incx: Int, result: u64) {
        cublasSnrm2_v2((F32, norm)) cublasDnrm2_v2((F64, norm)) cublasScnrm2_v2((C32, norm)) cublasDznrm2_v2((C64, norm))
        cublasSasum_v2((F32, sum_of_sizes)) cublasDasum_v2((F64, sum_of_sizes)) cublasScasum_v2((C32, sum_of_sizes))
        cublasDzasum_v2((C64, sum_of_sizes))
    }
    summed_ex (handle: Handle, n: Int, x: u64, x_kind: u32, incx: Int, result: u64, result_kind: u32, computed: u32) {
        cublasNrm2Ex(norm) cublasAsumEx(sum_of_sizes)
    }
    found (handle: Handle, n: Int, x: u64, incx: Int, result: *mut Int) {
        cublasIsamax_v2((F32, greatest)) cublasIdamax_v2((F64, greatest)) cublasIcamax_v2((C32, greatest))
        cublasIzamax_v2((C64, greatest)) cublasIsamin_v2((F32, smallest)) cublasIdamin_v2((F64, smallest))
        cublasIcamin_v2((C32, smallest)) cublasIzamin_v2((C64, smallest))
    }
    found_ex (handle: Handle, n: Int, x: u64, x_kind: u32, incx: Int, result: *mut Int) {
        cublasIamaxEx(greatest) cublasIaminEx(smallest)
    }
}
