//! Operations of a matrix and vectors.

use super::call::Scalar;
use super::compute::{self, computes};
use super::exports;
use super::gemm::{Batch, Given};
use super::handle::library_of;
use super::kind::Kind::{self, Bf16, C32, C64, F16, F32, F64};
use super::kind::Wide;
use super::level3::given;
use super::matrix::{Fill, Op, Part};
use super::operand::{Layout, Operand, When};
use super::status::INVALID_VALUE;
use crate::handle::Handle;
use crate::status::Result;

/// Errors: a vector without a step.
pub(super) fn vector(name: &'static str, kind: Kind, at: u64, count: i64, step: i64) -> Result<Operand> {
    if count < 0 || step == 0 { Err(INVALID_VALUE) } else { Ok(Operand::vector(name, kind, at, count, step)) }
}

/// A matrix of which the diagonals near the main one are stored.
fn band(kind: Kind, at: u64, size: [i64; 2], [below, above]: [i64; 2], column: i64) -> Result<Operand> {
    if below < 0 || above < 0 || column < below + above + 1 {
        return Err(INVALID_VALUE);
    }
    let layout = Layout::Band { below: below as usize, above: above as usize, column };
    Ok(given("A", kind, at, size, i64::MAX)?.layout(layout))
}

/// A triangle of a square matrix, and how it is stored.
#[derive(Clone, Copy)]
pub(super) enum Stored {
    /// In a matrix, whose columns are so far apart.
    Columns(i64),
    /// This number of diagonals beside the main one.
    Diagonals(i64, i64),
    Packed,
}

pub(super) fn triangle(kind: Kind, at: u64, n: i64, part: Part, stored: Stored) -> Result<Operand> {
    match stored {
        Stored::Columns(column) => Ok(given("A", kind, at, [n, n], column)?.part(part)),
        Stored::Diagonals(count, column) if part == Part::Lower => band(kind, at, [n, n], [count, 0], column),
        Stored::Diagonals(count, column) => band(kind, at, [n, n], [0, count], column),
        Stored::Packed => Ok(given("AP", kind, at, [n, n], i64::MAX)?.layout(Layout::Packed(part))),
    }
}

/// `y = alpha * op(A) * x + beta * y`
fn gemv(
    kind: Kind,
    handle: Handle,
    op: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
    beta: u64,
    y: u64,
    incy: i64,
) -> Result {
    let a = Given { at: a, kind, column: lda, apart: 0 };
    gemv_of([kind; 2], handle, op, [m, n], alpha, a, (x, incx, 0), beta, (y, incy, 0), Batch::Apart(1))
}

/// Vectors have an address, a step, and a distance from one to the next in a batch.
fn gemv_of(
    [kind, kind_of_y]: [Kind; 2],
    handle: Handle,
    op: u32,
    [m, n]: [i64; 2],
    alpha: u64,
    a: Given,
    (x, incx, x_apart): (u64, i64, i64),
    beta: u64,
    (y, incy, y_apart): (u64, i64, i64),
    batch: Batch,
) -> Result {
    let (library, op) = (library_of(handle)?, Op::of(op)?);
    if m < 0 || n < 0 {
        return Err(INVALID_VALUE);
    }
    let [rows, columns] = op.given([m, n]);
    let in_batch = |operand: Operand, apart| match batch {
        Batch::Apart(_) => operand.apart(apart),
        // A negative step counts from the pointer.
        Batch::ByPointers(_) => operand.by_pointers(),
    };
    let a = a.operand("A", [m, n], batch)?.reads(When::Unless(0));
    let x = in_batch(vector("x", kind, x, columns, incx)?, x_apart).reads(When::Unless(0));
    let y = in_batch(vector("y", kind_of_y, y, rows, incy)?, y_apart).reads(When::Unless(1)).writes();
    let scale = kind.compute().kind();
    let scalars = vec![library.scalar("alpha", scale, alpha)?, library.scalar("beta", scale, beta)?];
    let count = batch.count()?;
    if m == 0 || n == 0 || count == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::product::<T>(scalars, views, [op, Op::Plain]);
    });
    library.submit(scalars, vec![a, x, y], count, does)
}

fn gemv_by_pointers(
    kinds: [Kind; 2],
    handle: Handle,
    op: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
    beta: u64,
    y: u64,
    incy: i64,
    count: i64,
) -> Result {
    if incx < 0 || incy < 0 {
        return Err(super::status::NOT_SUPPORTED);
    }
    let a = Given { at: a, kind: kinds[0], column: lda, apart: 0 };
    gemv_of(kinds, handle, op, [m, n], alpha, a, (x, incx, 0), beta, (y, incy, 0), Batch::ByPointers(count))
}

fn gemv_apart(
    kinds: [Kind; 2],
    handle: Handle,
    op: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    a_apart: i64,
    x: u64,
    incx: i64,
    x_apart: i64,
    beta: u64,
    y: u64,
    incy: i64,
    y_apart: i64,
    count: i64,
) -> Result {
    let a = Given { at: a, kind: kinds[0], column: lda, apart: a_apart };
    gemv_of(kinds, handle, op, [m, n], alpha, a, (x, incx, x_apart), beta, (y, incy, y_apart), Batch::Apart(count))
}

fn gbmv(
    kind: Kind,
    handle: Handle,
    op: u32,
    m: i64,
    n: i64,
    below: i64,
    above: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
    beta: u64,
    y: u64,
    incy: i64,
) -> Result {
    let (library, op) = (library_of(handle)?, Op::of(op)?);
    let [rows, columns] = op.given([m, n]);
    let a = band(kind, a, [m, n], [below, above], lda)?.reads(When::Unless(0));
    let x = vector("x", kind, x, columns, incx)?.reads(When::Unless(0));
    let y = vector("y", kind, y, rows, incy)?.reads(When::Unless(1)).writes();
    let scalars = vec![library.scalar("alpha", kind, alpha)?, library.scalar("beta", kind, beta)?];
    if m == 0 || n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::product::<T>(scalars, views, [op, Op::Plain]);
    });
    library.submit(scalars, vec![a, x, y], 1, does)
}

/// `y = alpha * A * x + beta * y`, where a triangle of A is stored.
fn filled_times_vector(
    (kind, fill): (Kind, Fill),
    handle: Handle,
    part: u32,
    n: i64,
    alpha: u64,
    (a, stored): (u64, Stored),
    (x, incx): (u64, i64),
    beta: u64,
    (y, incy): (u64, i64),
) -> Result {
    let (library, part) = (library_of(handle)?, Part::of(part)?);
    let a = triangle(kind, a, n, part, stored)?.reads(When::Unless(0));
    let x = vector("x", kind, x, n, incx)?.reads(When::Unless(0));
    let y = vector("y", kind, y, n, incy)?.reads(When::Unless(1)).writes();
    let scalars = vec![library.scalar("alpha", kind, alpha)?, library.scalar("beta", kind, beta)?];
    if n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::filled_product::<T>(scalars, views, (part, fill), true);
    });
    library.submit(scalars, vec![a, x, y], 1, does)
}

fn symv(
    what: (Kind, Fill),
    handle: Handle,
    part: u32,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
    beta: u64,
    y: u64,
    incy: i64,
) -> Result {
    filled_times_vector(what, handle, part, n, alpha, (a, Stored::Columns(lda)), (x, incx), beta, (y, incy))
}

fn sbmv(
    what: (Kind, Fill),
    handle: Handle,
    part: u32,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
    beta: u64,
    y: u64,
    incy: i64,
) -> Result {
    filled_times_vector(what, handle, part, n, alpha, (a, Stored::Diagonals(k, lda)), (x, incx), beta, (y, incy))
}

fn spmv(
    what: (Kind, Fill),
    handle: Handle,
    part: u32,
    n: i64,
    alpha: u64,
    a: u64,
    x: u64,
    incx: i64,
    beta: u64,
    y: u64,
    incy: i64,
) -> Result {
    filled_times_vector(what, handle, part, n, alpha, (a, Stored::Packed), (x, incx), beta, (y, incy))
}

/// `x = op(A) * x`, or x becomes the solution of `op(A) * y = x`.
fn triangle_and_vector(
    (kind, solves): (Kind, bool),
    handle: Handle,
    part: u32,
    op: u32,
    diagonal: u32,
    n: i64,
    (a, stored): (u64, Stored),
    (x, incx): (u64, i64),
) -> Result {
    let (library, part, op, fill) = (library_of(handle)?, Part::of(part)?, Op::of(op)?, Fill::triangular(diagonal)?);
    let a = triangle(kind, a, n, part, stored)?;
    let x = vector("x", kind, x, n, incx)?.writes();
    if n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        let [a, x] = *views else { return };
        let of = (part, fill, op);
        match solves {
            true => compute::solve::<T>(scalars, views, of, true),
            false => compute::triangular_product::<T>(scalars, &[a, x, x], of, true),
        }
    });
    library.submit(vec![Scalar::Value(Wide::new(1.0, 0.0))], vec![a, x], 1, does)
}

fn trmv(
    what: (Kind, bool),
    handle: Handle,
    part: u32,
    op: u32,
    diagonal: u32,
    n: i64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
) -> Result {
    triangle_and_vector(what, handle, part, op, diagonal, n, (a, Stored::Columns(lda)), (x, incx))
}

fn tbmv(
    what: (Kind, bool),
    handle: Handle,
    part: u32,
    op: u32,
    diagonal: u32,
    n: i64,
    k: i64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
) -> Result {
    triangle_and_vector(what, handle, part, op, diagonal, n, (a, Stored::Diagonals(k, lda)), (x, incx))
}

fn tpmv(
    what: (Kind, bool),
    handle: Handle,
    part: u32,
    op: u32,
    diagonal: u32,
    n: i64,
    a: u64,
    x: u64,
    incx: i64,
) -> Result {
    triangle_and_vector(what, handle, part, op, diagonal, n, (a, Stored::Packed), (x, incx))
}

exports! {
    gemv (handle: Handle, op: u32, m: Int, n: Int, alpha: u64, a: u64, lda: Int, x: u64, incx: Int, beta: u64, y: u64,
        incy: Int) {
        cublasSgemv_v2(F32) cublasDgemv_v2(F64) cublasCgemv_v2(C32) cublasZgemv_v2(C64)
    }
    gemv_by_pointers (handle: Handle, op: u32, m: Int, n: Int, alpha: u64, a: u64, lda: Int, x: u64, incx: Int, beta: u64,
        y: u64, incy: Int, count: Int) {
        cublasSgemvBatched([F32; 2]) cublasDgemvBatched([F64; 2]) cublasCgemvBatched([C32; 2])
        cublasZgemvBatched([C64; 2]) cublasHSHgemvBatched([F16; 2]) cublasHSSgemvBatched([F16, F32])
        cublasTSTgemvBatched([Bf16; 2]) cublasTSSgemvBatched([Bf16, F32])
    }
    gemv_apart (handle: Handle, op: u32, m: Int, n: Int, alpha: u64, a: u64, lda: Int, a_apart: i64, x: u64, incx: Int,
        x_apart: i64, beta: u64, y: u64, incy: Int, y_apart: i64, count: Int) {
        cublasSgemvStridedBatched([F32; 2]) cublasDgemvStridedBatched([F64; 2]) cublasCgemvStridedBatched([C32; 2])
        cublasZgemvStridedBatched([C64; 2]) cublasHSHgemvStridedBatched([F16; 2])
        cublasHSSgemvStridedBatched([F16, F32]) cublasTSTgemvStridedBatched([Bf16; 2])
        cublasTSSgemvStridedBatched([Bf16, F32])
    }
    gbmv (handle: Handle, op: u32, m: Int, n: Int, below: Int, above: Int, alpha: u64, a: u64, lda: Int, x: u64, incx: Int,
        beta: u64, y: u64, incy: Int) {
        cublasSgbmv_v2(F32) cublasDgbmv_v2(F64) cublasCgbmv_v2(C32) cublasZgbmv_v2(C64)
    }
    symv (handle: Handle, part: u32, n: Int, alpha: u64, a: u64, lda: Int, x: u64, incx: Int, beta: u64, y: u64, incy: Int) {
        cublasSsymv_v2((F32, Fill::Symmetric)) cublasDsymv_v2((F64, Fill::Symmetric))
        cublasCsymv_v2((C32, Fill::Symmetric)) cublasZsymv_v2((C64, Fill::Symmetric))
        cublasChemv_v2((C32, Fill::Hermitian)) cublasZhemv_v2((C64, Fill::Hermitian))
    }
    sbmv (handle: Handle, part: u32, n: Int, k: Int, alpha: u64, a: u64, lda: Int, x: u64, incx: Int, beta: u64, y: u64,
        incy: Int) {
        cublasSsbmv_v2((F32, Fill::Symmetric)) cublasDsbmv_v2((F64, Fill::Symmetric))
        cublasChbmv_v2((C32, Fill::Hermitian)) cublasZhbmv_v2((C64, Fill::Hermitian))
    }
    spmv (handle: Handle, part: u32, n: Int, alpha: u64, a: u64, x: u64, incx: Int, beta: u64, y: u64, incy: Int) {
        cublasSspmv_v2((F32, Fill::Symmetric)) cublasDspmv_v2((F64, Fill::Symmetric))
        cublasChpmv_v2((C32, Fill::Hermitian)) cublasZhpmv_v2((C64, Fill::Hermitian))
    }
    trmv (handle: Handle, part: u32, op: u32, diagonal: u32, n: Int, a: u64, lda: Int, x: u64, incx: Int) {
        cublasStrmv_v2((F32, false)) cublasDtrmv_v2((F64, false)) cublasCtrmv_v2((C32, false)) cublasZtrmv_v2((C64, false))
        cublasStrsv_v2((F32, true)) cublasDtrsv_v2((F64, true)) cublasCtrsv_v2((C32, true)) cublasZtrsv_v2((C64, true))
    }
    tbmv (handle: Handle, part: u32, op: u32, diagonal: u32, n: Int, k: Int, a: u64, lda: Int, x: u64, incx: Int) {
        cublasStbmv_v2((F32, false)) cublasDtbmv_v2((F64, false)) cublasCtbmv_v2((C32, false)) cublasZtbmv_v2((C64, false))
        cublasStbsv_v2((F32, true)) cublasDtbsv_v2((F64, true)) cublasCtbsv_v2((C32, true)) cublasZtbsv_v2((C64, true))
    }
    tpmv (handle: Handle, part: u32, op: u32, diagonal: u32, n: Int, a: u64, x: u64, incx: Int) {
        cublasStpmv_v2((F32, false)) cublasDtpmv_v2((F64, false)) cublasCtpmv_v2((C32, false)) cublasZtpmv_v2((C64, false))
        cublasStpsv_v2((F32, true)) cublasDtpsv_v2((F64, true)) cublasCtpsv_v2((C32, true)) cublasZtpsv_v2((C64, true))
    }
}
