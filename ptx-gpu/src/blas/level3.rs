//! Operations of two and three matrices, beside their products.

use super::call::Scalar;
use super::compute::{self, computes};
use super::exports;
use super::gemm::{Batch, Given};
use super::handle::library_of;
use super::kind::Kind::{self, C32, C64, F32, F64};
use super::kind::Wide;
use super::matrix::{Fill, Op, Part};
use super::operand::{Operand, When};
use super::status::{INVALID_VALUE, NOT_SUPPORTED};
use crate::handle::Handle;
use crate::status::Result;

impl Part {
    pub(super) fn of(number: u32) -> Result<Part> {
        match number {
            0 => Ok(Part::Lower),
            1 => Ok(Part::Upper),
            _ => Err(INVALID_VALUE),
        }
    }
}

impl Fill {
    /// `cublasDiagType_t`
    pub(super) fn triangular(diagonal: u32) -> Result<Fill> {
        if diagonal > 1 { Err(INVALID_VALUE) } else { Ok(Fill::Triangular { is_unit: diagonal == 1 }) }
    }
}

/// `cublasSideMode_t`
fn is_left(side: u32) -> Result<bool> {
    if side > 1 { Err(INVALID_VALUE) } else { Ok(side == 0) }
}

/// A matrix by itself.
const ALONE: Batch = Batch::Apart(1);

pub(super) fn given(name: &'static str, kind: Kind, at: u64, size: [i64; 2], column: i64) -> Result<Operand> {
    if size.iter().any(|count| *count < 0) {
        return Err(INVALID_VALUE);
    }
    Given { at, kind, column, apart: 0 }.operand(name, size, ALONE)
}

fn symm(
    (kind, fill): (Kind, Fill),
    handle: Handle,
    side: u32,
    part: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    b: u64,
    ldb: i64,
    beta: u64,
    c: u64,
    ldc: i64,
) -> Result {
    let library = library_of(handle)?;
    let (is_left, part) = (is_left(side)?, Part::of(part)?);
    let order = if is_left { m } else { n };
    let a = given("A", kind, a, [order, order], lda)?.part(part).reads(When::Unless(0));
    let b = given("B", kind, b, [m, n], ldb)?.reads(When::Unless(0));
    let c = given("C", kind, c, [m, n], ldc)?.reads(When::Unless(1)).writes();
    let scalars = vec![library.scalar("alpha", kind, alpha)?, library.scalar("beta", kind, beta)?];
    if m == 0 || n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::filled_product::<T>(scalars, views, (part, fill), is_left);
    });
    library.submit(scalars, vec![a, b, c], 1, does)
}

/// Which update of a symmetric matrix.
#[derive(Clone, Copy)]
struct Update {
    kind: Kind,
    is_hermitian: bool,
    /// Whether A and B exchanged are added.
    is_doubled: bool,
}

const fn symmetric(kind: Kind) -> Update {
    Update { kind, is_hermitian: false, is_doubled: false }
}

const fn hermitian(kind: Kind) -> Update {
    Update { kind, is_hermitian: true, is_doubled: false }
}

const fn doubled(of: Update) -> Update {
    Update { is_doubled: true, ..of }
}

/// Without a second matrix, the first one is taken twice.
fn update(
    what: Update,
    handle: Handle,
    part: u32,
    op: u32,
    [n, k]: [i64; 2],
    alpha: u64,
    (a, lda): (u64, i64),
    b: Option<(u64, i64)>,
    beta: u64,
    (c, ldc): (u64, i64),
) -> Result {
    let library = library_of(handle)?;
    let Update { kind, is_hermitian, is_doubled } = what;
    let (part, op) = (Part::of(part)?, Op::of(op)?);
    // The adjoint of a complex matrix is of Hermitian updates, and the transpose of the others.
    if kind.is_complex() && op == (if is_hermitian { Op::Transposed } else { Op::Adjoint }) {
        return Err(INVALID_VALUE);
    }
    let size = op.given([n, k]);
    let mut operands = vec![given("A", kind, a, size, lda)?.reads(When::Unless(0))];
    if let Some((b, ldb)) = b {
        operands.push(given("B", kind, b, size, ldb)?.reads(When::Unless(0)));
    }
    operands.push(given("C", kind, c, [n, n], ldc)?.part(part).reads(When::Unless(1)).writes());
    let real = if is_hermitian { kind.real() } else { kind };
    let alpha_kind = if b.is_some() { kind } else { real };
    let scalars = vec![library.scalar("alpha", alpha_kind, alpha)?, library.scalar("beta", real, beta)?];
    if n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::update::<T>(scalars, views, op, is_hermitian, is_doubled);
    });
    library.submit(scalars, operands, 1, does)
}

fn syrk(
    what: Update,
    handle: Handle,
    part: u32,
    op: u32,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    beta: u64,
    c: u64,
    ldc: i64,
) -> Result {
    update(what, handle, part, op, [n, k], alpha, (a, lda), None, beta, (c, ldc))
}

/// With the types of both matrices.
fn syrk_ex(
    what: Update,
    handle: Handle,
    part: u32,
    op: u32,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    a_kind: u32,
    lda: i64,
    beta: u64,
    c: u64,
    c_kind: u32,
    ldc: i64,
) -> Result {
    if [a_kind, c_kind].map(Kind::of) != [Some(what.kind); 2] {
        return Err(NOT_SUPPORTED);
    }
    syrk(what, handle, part, op, n, k, alpha, a, lda, beta, c, ldc)
}

fn syr2k(
    what: Update,
    handle: Handle,
    part: u32,
    op: u32,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    b: u64,
    ldb: i64,
    beta: u64,
    c: u64,
    ldc: i64,
) -> Result {
    update(what, handle, part, op, [n, k], alpha, (a, lda), Some((b, ldb)), beta, (c, ldc))
}

fn trmm(
    kind: Kind,
    handle: Handle,
    side: u32,
    part: u32,
    op: u32,
    diagonal: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    b: u64,
    ldb: i64,
    c: u64,
    ldc: i64,
) -> Result {
    let library = library_of(handle)?;
    let (is_left, part, op, fill) = (is_left(side)?, Part::of(part)?, Op::of(op)?, Fill::triangular(diagonal)?);
    let order = if is_left { m } else { n };
    let a = given("A", kind, a, [order, order], lda)?.part(part).reads(When::Unless(0));
    let b = given("B", kind, b, [m, n], ldb)?.reads(When::Unless(0));
    let c = given("C", kind, c, [m, n], ldc)?.result();
    let scalars = vec![library.scalar("alpha", kind, alpha)?];
    if m == 0 || n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::triangular_product::<T>(scalars, views, (part, fill, op), is_left);
    });
    library.submit(scalars, vec![a, b, c], 1, does)
}

fn solve(
    kind: Kind,
    handle: Handle,
    side: u32,
    part: u32,
    op: u32,
    diagonal: u32,
    [m, n]: [i64; 2],
    alpha: u64,
    (a, lda): (u64, i64),
    (b, ldb): (u64, i64),
    batch: Batch,
) -> Result {
    let library = library_of(handle)?;
    let (is_left, part, op, fill) = (is_left(side)?, Part::of(part)?, Op::of(op)?, Fill::triangular(diagonal)?);
    if m < 0 || n < 0 {
        return Err(INVALID_VALUE);
    }
    let order = if is_left { m } else { n };
    let of = |at, column| Given { at, kind, column, apart: 0 };
    let a = of(a, lda).operand("A", [order, order], batch)?.part(part).reads(When::Unless(0));
    let b = of(b, ldb).operand("B", [m, n], batch)?.reads(When::Unless(0)).writes();
    let (scalars, count) = (vec![library.scalar("alpha", kind, alpha)?], batch.count()?);
    if m == 0 || n == 0 || count == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars, views| {
        compute::solve::<T>(scalars, views, (part, fill, op), is_left);
    });
    library.submit(scalars, vec![a, b], count, does)
}

fn trsm(
    kind: Kind,
    handle: Handle,
    side: u32,
    part: u32,
    op: u32,
    diagonal: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    b: u64,
    ldb: i64,
) -> Result {
    solve(kind, handle, side, part, op, diagonal, [m, n], alpha, (a, lda), (b, ldb), ALONE)
}

fn trsm_by_pointers(
    kind: Kind,
    handle: Handle,
    side: u32,
    part: u32,
    op: u32,
    diagonal: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    b: u64,
    ldb: i64,
    count: i64,
) -> Result {
    solve(kind, handle, side, part, op, diagonal, [m, n], alpha, (a, lda), (b, ldb), Batch::ByPointers(count))
}

/// `C = alpha * op(A) + beta * op(B)`
fn geam(
    kind: Kind,
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
    n: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    beta: u64,
    b: u64,
    ldb: i64,
    c: u64,
    ldc: i64,
) -> Result {
    let library = library_of(handle)?;
    let (op_a, op_b) = (Op::of(op_a)?, Op::of(op_b)?);
    // C may be A or B, if that is taken as it is.
    let is_wrong = |at: u64, op: Op, column: i64| at == c && (op != Op::Plain || column != ldc);
    if is_wrong(a, op_a, lda) || is_wrong(b, op_b, ldb) {
        return Err(INVALID_VALUE);
    }
    let a = given("A", kind, a, op_a.given([m, n]), lda)?.reads(When::Unless(0));
    let b = given("B", kind, b, op_b.given([m, n]), ldb)?.reads(When::Unless(1));
    let c = given("C", kind, c, [m, n], ldc)?.result();
    let scalars = vec![library.scalar("alpha", kind, alpha)?, library.scalar("beta", kind, beta)?];
    if m == 0 || n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |scalars: &[Wide], views| {
        let [a, b, c] = views else { return };
        let first = compute::times(scalars[0], c, || a.load::<T>().op(op_a));
        c.store(&first.plus(&compute::times(scalars[1], c, || b.load::<T>().op(op_b))));
    });
    library.submit(scalars, vec![a, b, c], 1, does)
}

/// The rows or the columns of A, each times an element of x.
fn dgmm(
    kind: Kind,
    handle: Handle,
    side: u32,
    m: i64,
    n: i64,
    a: u64,
    lda: i64,
    x: u64,
    incx: i64,
    c: u64,
    ldc: i64,
) -> Result {
    let (library, is_left) = (library_of(handle)?, is_left(side)?);
    let a = given("A", kind, a, [m, n], lda)?;
    let x = Operand::vector("x", kind, x, if is_left { m } else { n }, incx);
    let c = given("C", kind, c, [m, n], ldc)?.result();
    if m == 0 || n == 0 {
        return Ok(());
    }
    let does = computes!(kind.compute(), T => move |_: &[Wide], views| {
        let [a, x, c] = views else { return };
        let (mut a, x) = (a.load::<T>(), x.load::<T>());
        for column in 0..a.columns {
            (0..a.rows).for_each(|row| *a.at_mut(row, column) *= x.at(if is_left { row } else { column }, 0));
        }
        c.store(&a);
    });
    library.submit(Vec::<Scalar>::new(), vec![a, x, c], 1, does)
}

exports! {
    symm (handle: Handle, side: u32, part: u32, m: Int, n: Int, alpha: u64, a: u64, lda: Int, b: u64, ldb: Int, beta: u64,
        c: u64, ldc: Int) {
        cublasSsymm_v2((F32, Fill::Symmetric)) cublasDsymm_v2((F64, Fill::Symmetric))
        cublasCsymm_v2((C32, Fill::Symmetric)) cublasZsymm_v2((C64, Fill::Symmetric))
        cublasChemm_v2((C32, Fill::Hermitian)) cublasZhemm_v2((C64, Fill::Hermitian))
    }
    syrk (handle: Handle, part: u32, op: u32, n: Int, k: Int, alpha: u64, a: u64, lda: Int, beta: u64, c: u64, ldc: Int) {
        cublasSsyrk_v2(symmetric(F32)) cublasDsyrk_v2(symmetric(F64)) cublasCsyrk_v2(symmetric(C32))
        cublasZsyrk_v2(symmetric(C64)) cublasCherk_v2(hermitian(C32)) cublasZherk_v2(hermitian(C64))
    }
    syrk_ex (handle: Handle, part: u32, op: u32, n: Int, k: Int, alpha: u64, a: u64, a_kind: u32, lda: Int, beta: u64,
        c: u64, c_kind: u32, ldc: Int) {
        cublasCsyrkEx(symmetric(C32)) cublasCsyrk3mEx(symmetric(C32)) cublasCherkEx(hermitian(C32))
        cublasCherk3mEx(hermitian(C32))
    }
    syr2k (handle: Handle, part: u32, op: u32, n: Int, k: Int, alpha: u64, a: u64, lda: Int, b: u64, ldb: Int, beta: u64,
        c: u64, ldc: Int) {
        cublasSsyr2k_v2(doubled(symmetric(F32))) cublasDsyr2k_v2(doubled(symmetric(F64)))
        cublasCsyr2k_v2(doubled(symmetric(C32))) cublasZsyr2k_v2(doubled(symmetric(C64)))
        cublasCher2k_v2(doubled(hermitian(C32))) cublasZher2k_v2(doubled(hermitian(C64)))
        cublasSsyrkx(symmetric(F32)) cublasDsyrkx(symmetric(F64)) cublasCsyrkx(symmetric(C32))
        cublasZsyrkx(symmetric(C64)) cublasCherkx(hermitian(C32)) cublasZherkx(hermitian(C64))
    }
    trmm (handle: Handle, side: u32, part: u32, op: u32, diagonal: u32, m: Int, n: Int, alpha: u64, a: u64, lda: Int,
        b: u64, ldb: Int, c: u64, ldc: Int) {
        cublasStrmm_v2(F32) cublasDtrmm_v2(F64) cublasCtrmm_v2(C32) cublasZtrmm_v2(C64)
    }
    trsm (handle: Handle, side: u32, part: u32, op: u32, diagonal: u32, m: Int, n: Int, alpha: u64, a: u64, lda: Int,
        b: u64, ldb: Int) {
        cublasStrsm_v2(F32) cublasDtrsm_v2(F64) cublasCtrsm_v2(C32) cublasZtrsm_v2(C64)
    }
    trsm_by_pointers (handle: Handle, side: u32, part: u32, op: u32, diagonal: u32, m: Int, n: Int, alpha: u64, a: u64,
        lda: Int, b: u64, ldb: Int, count: Int) {
        cublasStrsmBatched(F32) cublasDtrsmBatched(F64) cublasCtrsmBatched(C32) cublasZtrsmBatched(C64)
    }
    geam (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, alpha: u64, a: u64, lda: Int, beta: u64, b: u64, ldb: Int,
        c: u64, ldc: Int) {
        cublasSgeam(F32) cublasDgeam(F64) cublasCgeam(C32) cublasZgeam(C64)
    }
    dgmm (handle: Handle, side: u32, m: Int, n: Int, a: u64, lda: Int, x: u64, incx: Int, c: u64, ldc: Int) {
        cublasSdgmm(F32) cublasDdgmm(F64) cublasCdgmm(C32) cublasZdgmm(C64)
    }
}
