//! Products of matrices, and of batches of them.

use super::compute::{self, computes};
use super::exports;
use super::handle::library_of;
use super::kind::Kind::{Bf16, C32, C64, F16, F32, F64, I8, I32};
use super::kind::{Compute, Kind};
use super::matrix::Op;
use super::operand::{Operand, When};
use super::status::{INVALID_VALUE, NOT_SUPPORTED};
use crate::handle::Handle;
use crate::status::Result;

/// An argument that is a matrix.
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub(super) at: u64,
    pub(super) kind: Kind,
    pub(super) column: i64,
    /// In a batch, elements from one matrix to the next.
    pub(super) apart: i64,
}

/// How the matrices of a batch are given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Batch {
    Apart(i64),
    ByPointers(i64),
}

/// `C = alpha * op(A) * op(B) + beta * C`
pub(super) struct Product {
    pub(super) ops: [u32; 2],
    pub(super) size: [i64; 3],
    pub(super) scalars: [u64; 2],
    pub(super) scale: Kind,
    pub(super) a: Given,
    pub(super) b: Given,
    pub(super) c: Given,
    pub(super) compute: Compute,
    pub(super) batch: Batch,
}

impl Op {
    pub(super) fn of(number: u32) -> Result<Op> {
        match number {
            0 => Ok(Op::Plain),
            1 => Ok(Op::Transposed),
            2 => Ok(Op::Adjoint),
            _ => Err(INVALID_VALUE),
        }
    }

    /// The rows and columns of the matrix that is given, of which the operation makes one of that size.
    pub(super) fn given(self, [rows, columns]: [i64; 2]) -> [i64; 2] {
        if self == Op::Plain { [rows, columns] } else { [columns, rows] }
    }
}

impl Given {
    /// Errors: the columns are longer than they are apart.
    pub(super) fn operand(&self, name: &'static str, size: [i64; 2], batch: Batch) -> Result<Operand> {
        if self.column < size[0].max(1) {
            return Err(INVALID_VALUE);
        }
        let operand = Operand::matrix(name, self.kind, self.at, size, self.column);
        Ok(if let Batch::ByPointers(_) = batch { operand.by_pointers() } else { operand.apart(self.apart) })
    }
}

impl Batch {
    pub(super) fn count(self) -> Result<usize> {
        let (Batch::Apart(count) | Batch::ByPointers(count)) = self;
        usize::try_from(count).map_err(|_| INVALID_VALUE)
    }
}

pub(super) fn product(handle: Handle, what: &Product) -> Result {
    let library = library_of(handle)?;
    let Product { ops, size: [m, n, k], scalars: [alpha, beta], scale, compute, batch, .. } = *what;
    let (op_a, op_b) = (Op::of(ops[0])?, Op::of(ops[1])?);
    if m < 0 || n < 0 || k < 0 {
        return Err(INVALID_VALUE);
    }
    let a = what.a.operand("A", op_a.given([m, k]), batch)?.reads(When::Unless(0));
    let b = what.b.operand("B", op_b.given([k, n]), batch)?.reads(When::Unless(0));
    let c = what.c.operand("C", [m, n], batch)?.reads(When::Unless(1)).writes();
    let scalars = vec![library.scalar("alpha", scale, alpha)?, library.scalar("beta", scale, beta)?];
    let count = batch.count()?;
    if m == 0 || n == 0 || count == 0 {
        return Ok(());
    }
    let does = computes!(compute, T => move |scalars, views| compute::product::<T>(scalars, views, [op_a, op_b]));
    library.submit(scalars, vec![a, b, c], count, does)
}

fn gemm(
    kind: Kind,
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
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
    gemm_apart(kind, handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1)
}

fn gemm_by_pointers(
    kind: Kind,
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
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
    count: i64,
) -> Result {
    let given = |at, column| Given { at, kind, column, apart: 0 };
    product(
        handle,
        &Product {
            ops: [op_a, op_b],
            size: [m, n, k],
            scalars: [alpha, beta],
            scale: kind,
            a: given(a, lda),
            b: given(b, ldb),
            c: given(c, ldc),
            compute: kind.compute(),
            batch: Batch::ByPointers(count),
        },
    )
}

fn gemm_apart(
    kind: Kind,
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    lda: i64,
    a_apart: i64,
    b: u64,
    ldb: i64,
    b_apart: i64,
    beta: u64,
    c: u64,
    ldc: i64,
    c_apart: i64,
    count: i64,
) -> Result {
    product(
        handle,
        &Product {
            ops: [op_a, op_b],
            size: [m, n, k],
            scalars: [alpha, beta],
            scale: kind,
            a: Given { at: a, kind, column: lda, apart: a_apart },
            b: Given { at: b, kind, column: ldb, apart: b_apart },
            c: Given { at: c, kind, column: ldc, apart: c_apart },
            compute: kind.compute(),
            batch: Batch::Apart(count),
        },
    )
}

/// `cublasComputeType_t`, and the types of A, B and C: in what it is computed, and the type of `alpha` and `beta`.
pub(super) fn computed(number: u32, kinds: [Kind; 3]) -> Result<(Compute, Kind)> {
    let found = match (number, kinds) {
        (64 | 65, [F16, F16, F16]) => (Compute::F32, F16),
        (
            68 | 69 | 74 | 75 | 77 | 78,
            [Bf16, Bf16, Bf16 | F32] | [F16, F16, F16 | F32] | [I8, I8, F32] | [F32, F32, F32],
        ) => (Compute::F32, F32),
        (68 | 69 | 74 | 75 | 77 | 78, [C32, C32, C32]) => (Compute::C32, C32),
        (70 | 71 | 79, [F64, F64, F64]) => (Compute::F64, F64),
        (70 | 71 | 79, [C64, C64, C64]) => (Compute::C64, C64),
        (72 | 73, [I8, I8, I32]) => (Compute::I32, I32),
        _ => return Err(NOT_SUPPORTED),
    };
    Ok(found)
}

pub(super) fn kinds(numbers: [u32; 3]) -> Result<[Kind; 3]> {
    let of = |number| Kind::of(number).ok_or(NOT_SUPPORTED);
    Ok([of(numbers[0])?, of(numbers[1])?, of(numbers[2])?])
}

/// With a type for each matrix.
fn gemm_ex(
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    a_kind: u32,
    lda: i64,
    b: u64,
    b_kind: u32,
    ldb: i64,
    beta: u64,
    c: u64,
    c_kind: u32,
    ldc: i64,
    compute: u32,
    algorithm: u32,
) -> Result {
    gemm_apart_ex(
        handle, op_a, op_b, m, n, k, alpha, a, a_kind, lda, 0, b, b_kind, ldb, 0, beta, c, c_kind, ldc, 0, 1, compute,
        algorithm,
    )
}

/// With a type for each matrix, computed in one of them.
fn gemm_of_types(
    compute: u32,
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    a_kind: u32,
    lda: i64,
    b: u64,
    b_kind: u32,
    ldb: i64,
    beta: u64,
    c: u64,
    c_kind: u32,
    ldc: i64,
) -> Result {
    gemm_ex(handle, op_a, op_b, m, n, k, alpha, a, a_kind, lda, b, b_kind, ldb, beta, c, c_kind, ldc, compute, 0)
}

fn gemm_by_pointers_ex(
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    a_kind: u32,
    lda: i64,
    b: u64,
    b_kind: u32,
    ldb: i64,
    beta: u64,
    c: u64,
    c_kind: u32,
    ldc: i64,
    count: i64,
    compute: u32,
    _algorithm: u32,
) -> Result {
    let kinds = kinds([a_kind, b_kind, c_kind])?;
    let (compute, scale) = computed(compute, kinds)?;
    let given = |at, kind, column| Given { at, kind, column, apart: 0 };
    product(
        handle,
        &Product {
            ops: [op_a, op_b],
            size: [m, n, k],
            scalars: [alpha, beta],
            scale,
            a: given(a, kinds[0], lda),
            b: given(b, kinds[1], ldb),
            c: given(c, kinds[2], ldc),
            compute,
            batch: Batch::ByPointers(count),
        },
    )
}

fn gemm_apart_ex(
    handle: Handle,
    op_a: u32,
    op_b: u32,
    m: i64,
    n: i64,
    k: i64,
    alpha: u64,
    a: u64,
    a_kind: u32,
    lda: i64,
    a_apart: i64,
    b: u64,
    b_kind: u32,
    ldb: i64,
    b_apart: i64,
    beta: u64,
    c: u64,
    c_kind: u32,
    ldc: i64,
    c_apart: i64,
    count: i64,
    compute: u32,
    _algorithm: u32,
) -> Result {
    let kinds = kinds([a_kind, b_kind, c_kind])?;
    let (compute, scale) = computed(compute, kinds)?;
    product(
        handle,
        &Product {
            ops: [op_a, op_b],
            size: [m, n, k],
            scalars: [alpha, beta],
            scale,
            a: Given { at: a, kind: kinds[0], column: lda, apart: a_apart },
            b: Given { at: b, kind: kinds[1], column: ldb, apart: b_apart },
            c: Given { at: c, kind: kinds[2], column: ldc, apart: c_apart },
            compute,
            batch: Batch::Apart(count),
        },
    )
}

/// `CUBLAS_COMPUTE_32F`
const IN_F32: u32 = 68;

exports! {
    gemm (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, k: Int, alpha: u64, a: u64, lda: Int, b: u64, ldb: Int,
        beta: u64, c: u64, ldc: Int) {
        cublasSgemm_v2(F32) cublasDgemm_v2(F64) cublasCgemm_v2(C32) cublasZgemm_v2(C64)
        cublasHgemm(F16) cublasCgemm3m(C32) cublasZgemm3m(C64)
    }
    gemm_by_pointers (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, k: Int, alpha: u64, a: u64, lda: Int, b: u64,
        ldb: Int, beta: u64, c: u64, ldc: Int, count: Int) {
        cublasSgemmBatched(F32) cublasDgemmBatched(F64) cublasCgemmBatched(C32) cublasZgemmBatched(C64)
        cublasHgemmBatched(F16) cublasCgemm3mBatched(C32)
    }
    gemm_apart (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, k: Int, alpha: u64, a: u64, lda: Int, a_apart: i64,
        b: u64, ldb: Int, b_apart: i64, beta: u64, c: u64, ldc: Int, c_apart: i64, count: Int) {
        cublasSgemmStridedBatched(F32) cublasDgemmStridedBatched(F64) cublasCgemmStridedBatched(C32)
        cublasZgemmStridedBatched(C64) cublasHgemmStridedBatched(F16) cublasCgemm3mStridedBatched(C32)
    }
    gemm_ex (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, k: Int, alpha: u64, a: u64, a_kind: u32, lda: Int,
        b: u64, b_kind: u32, ldb: Int, beta: u64, c: u64, c_kind: u32, ldc: Int, compute: u32, algorithm: u32) {
        cublasGemmEx()
    }
    gemm_of_types (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, k: Int, alpha: u64, a: u64, a_kind: u32,
        lda: Int, b: u64, b_kind: u32, ldb: Int, beta: u64, c: u64, c_kind: u32, ldc: Int) {
        cublasSgemmEx(IN_F32) cublasCgemmEx(IN_F32) cublasCgemm3mEx(IN_F32)
    }
    gemm_by_pointers_ex (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, k: Int, alpha: u64, a: u64, a_kind: u32,
        lda: Int, b: u64, b_kind: u32, ldb: Int, beta: u64, c: u64, c_kind: u32, ldc: Int, count: Int, compute: u32,
        algorithm: u32) {
        cublasGemmBatchedEx()
    }
    gemm_apart_ex (handle: Handle, op_a: u32, op_b: u32, m: Int, n: Int, k: Int, alpha: u64, a: u64, a_kind: u32,
        lda: Int, a_apart: i64, b: u64, b_kind: u32, ldb: Int, b_apart: i64, beta: u64, c: u64, c_kind: u32, ldc: Int,
        c_apart: i64, count: Int, compute: u32, algorithm: u32) {
        cublasGemmStridedBatchedEx()
    }
}
