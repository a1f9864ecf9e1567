//! Products of vectors that are added to a matrix, and copies of triangles.

use super::call::Scalar;
use super::compute::{self, computes};
use super::exports;
use super::handle::library_of;
use super::kind::Kind::{self, C32, C64, F32, F64};
use super::kind::Wide;
use super::level2::{Stored, triangle, vector};
use super::level3::given;
use super::matrix::{Op, Part};
use super::operand::When;
use crate::handle::Handle;
use crate::status::Result;

/// `A = alpha * x * op(y) + A`
fn ger(
    (kind, op): (Kind, Op),
    handle: Handle,
    m: i64,
    n: i64,
    alpha: u64,
    x: u64,
    incx: i64,
    y: u64,
    incy: i64,
    a: u64,
    lda: i64,
) -> Result {
    let library = library_of(handle)?;
    let x = vector("x", kind, x, m, incx)?.reads(When::Unless(0));
    let y = vector("y", kind, y, n, incy)?.reads(When::Unless(0));
    let a = given("A", kind, a, [m, n], lda)?.writes();
    let scalars = vec![library.scalar("alpha", kind, alpha)?, Scalar::Value(Wide::new(1.0, 0.0))];
    if m == 0 || n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::product::<T>(scalars, views, [Op::Plain, op]);
    });
    library.submit(scalars, vec![x, y, a], 1, does)
}

/// `A = alpha * x * op(x) + A`; with a second vector, `alpha * x * op(y)` and the same exchanged.
fn vector_update(
    (kind, is_hermitian): (Kind, bool),
    handle: Handle,
    part: u32,
    n: i64,
    alpha: u64,
    x: (u64, i64),
    y: Option<(u64, i64)>,
    (a, stored): (u64, Stored),
) -> Result {
    let (library, part) = (library_of(handle)?, Part::of(part)?);
    let read = |name, (at, step)| Ok(vector(name, kind, at, n, step)?.reads(When::Unless(0)));
    let mut operands = vec![read("x", x)?];
    if let Some(y) = y {
        operands.push(read("y", y)?);
    }
    operands.push(triangle(kind, a, n, part, stored)?.writes());
    let alpha_kind = if is_hermitian && y.is_none() { kind.real() } else { kind };
    let scalars = vec![library.scalar("alpha", alpha_kind, alpha)?, Scalar::Value(Wide::new(1.0, 0.0))];
    if n == 0 {
        return Ok(());
    }
    let is_doubled = y.is_some();
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::update::<T>(scalars, views, Op::Plain, is_hermitian, is_doubled);
    });
    library.submit(scalars, operands, 1, does)
}

fn syr(
    what: (Kind, bool),
    handle: Handle,
    part: u32,
    n: i64,
    alpha: u64,
    x: u64,
    incx: i64,
    a: u64,
    lda: i64,
) -> Result {
    vector_update(what, handle, part, n, alpha, (x, incx), None, (a, Stored::Columns(lda)))
}

fn spr(what: (Kind, bool), handle: Handle, part: u32, n: i64, alpha: u64, x: u64, incx: i64, a: u64) -> Result {
    vector_update(what, handle, part, n, alpha, (x, incx), None, (a, Stored::Packed))
}

fn syr2(
    what: (Kind, bool),
    handle: Handle,
    part: u32,
    n: i64,
    alpha: u64,
    x: u64,
    incx: i64,
    y: u64,
    incy: i64,
    a: u64,
    lda: i64,
) -> Result {
    vector_update(what, handle, part, n, alpha, (x, incx), Some((y, incy)), (a, Stored::Columns(lda)))
}

fn spr2(
    what: (Kind, bool),
    handle: Handle,
    part: u32,
    n: i64,
    alpha: u64,
    x: u64,
    incx: i64,
    y: u64,
    incy: i64,
    a: u64,
) -> Result {
    vector_update(what, handle, part, n, alpha, (x, incx), Some((y, incy)), (a, Stored::Packed))
}

/// Copies a triangle out of a packed one, or into it.
fn repack(
    kind: Kind,
    handle: Handle,
    part: u32,
    n: i64,
    (from, from_stored): (u64, Stored),
    (to, to_stored): (u64, Stored),
) -> Result {
    let (library, part) = (library_of(handle)?, Part::of(part)?);
    let from = triangle(kind, from, n, part, from_stored)?;
    let to = triangle(kind, to, n, part, to_stored)?.result();
    let does = computes!(kind.compute(), T => move |_: &[Wide], views| {
        let [from, to] = views else { return };
        to.store(&from.load::<T>());
    });
    library.submit(vec![], vec![from, to], 1, does)
}

fn unpack(kind: Kind, handle: Handle, part: u32, n: i64, from: u64, to: u64, column: i64) -> Result {
    repack(kind, handle, part, n, (from, Stored::Packed), (to, Stored::Columns(column)))
}

fn pack(kind: Kind, handle: Handle, part: u32, n: i64, from: u64, column: i64, to: u64) -> Result {
    repack(kind, handle, part, n, (from, Stored::Columns(column)), (to, Stored::Packed))
}

exports! {
    ger (handle: Handle, m: Int, n: Int, alpha: u64, x: u64, incx: Int, y: u64, incy: Int, a: u64, lda: Int) {
        cublasSger_v2((F32, Op::Transposed)) cublasDger_v2((F64, Op::Transposed))
        cublasCgeru_v2((C32, Op::Transposed)) cublasZgeru_v2((C64, Op::Transposed))
        cublasCgerc_v2((C32, Op::Adjoint)) cublasZgerc_v2((C64, Op::Adjoint))
    }
    syr (handle: Handle, part: u32, n: Int, alpha: u64, x: u64, incx: Int, a: u64, lda: Int) {
        cublasSsyr_v2((F32, false)) cublasDsyr_v2((F64, false)) cublasCsyr_v2((C32, false)) cublasZsyr_v2((C64, false))
        cublasCher_v2((C32, true)) cublasZher_v2((C64, true))
    }
    spr (handle: Handle, part: u32, n: Int, alpha: u64, x: u64, incx: Int, a: u64) {
        cublasSspr_v2((F32, false)) cublasDspr_v2((F64, false)) cublasChpr_v2((C32, true)) cublasZhpr_v2((C64, true))
    }
    syr2 (handle: Handle, part: u32, n: Int, alpha: u64, x: u64, incx: Int, y: u64, incy: Int, a: u64, lda: Int) {
        cublasSsyr2_v2((F32, false)) cublasDsyr2_v2((F64, false)) cublasCsyr2_v2((C32, false)) cublasZsyr2_v2((C64, false))
        cublasCher2_v2((C32, true)) cublasZher2_v2((C64, true))
    }
    spr2 (handle: Handle, part: u32, n: Int, alpha: u64, x: u64, incx: Int, y: u64, incy: Int, a: u64) {
        cublasSspr2_v2((F32, false)) cublasDspr2_v2((F64, false)) cublasChpr2_v2((C32, true)) cublasZhpr2_v2((C64, true))
    }
    unpack (handle: Handle, part: u32, n: Int, from: u64, to: u64, column: Int) {
        cublasStpttr(F32) cublasDtpttr(F64) cublasCtpttr(C32) cublasZtpttr(C64)
    }
    pack (handle: Handle, part: u32, n: Int, from: u64, column: Int, to: u64) {
        cublasStrttp(F32) cublasDtrttp(F64) cublasCtrttp(C32) cublasZtrttp(C64)
    }
}
