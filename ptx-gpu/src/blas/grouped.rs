//! Products in groups, each with sizes and operations of its own.

use super::exports;
use super::gemm::{Batch, Given, Product, computed, kinds, product};
use super::kind::Compute;
use super::kind::Kind::{self, F32, F64};
use super::status::INVALID_VALUE;
use crate::call::get;
use crate::handle::Handle;
use crate::status::Result;

/// Numbers of each group, on the host.
#[derive(Clone, Copy)]
struct Numbers {
    at: u64,
    bytes: u64,
}

impl From<*const i32> for Numbers {
    fn from(at: *const i32) -> Numbers {
        Numbers { at: at as u64, bytes: 4 }
    }
}

impl From<*const i64> for Numbers {
    fn from(at: *const i64) -> Numbers {
        Numbers { at: at as u64, bytes: 8 }
    }
}

impl Numbers {
    fn of(self, group: u64) -> Result<i64> {
        let at = self.at + group * self.bytes;
        let number = if self.bytes == 4 { get(at as *const i32).map(i64::from) } else { get(at as *const i64) };
        number.map_err(|_| INVALID_VALUE)
    }
}

type Matrices = (u64, Kind, Numbers);

/// Each group is a piece of work.
fn groups(
    (compute, scale): (Compute, Kind),
    handle: Handle,
    ops: [*const u32; 2],
    size: [Numbers; 3],
    scalars: [u64; 2],
    matrices: [Matrices; 3],
    count: i64,
    members: Numbers,
) -> Result {
    if count < 0 || ops.iter().any(|ops| ops.is_null()) {
        return Err(INVALID_VALUE);
    }
    let mut first = 0;
    for group in 0..count as u64 {
        // SAFETY: there is an operation for each group.
        let ops = ops.map(|ops| unsafe { ops.add(group as usize).read_unaligned() });
        let [a, b, c] = matrices;
        let given = |(pointers, kind, columns): Matrices| -> Result<Given> {
            let at = pointers + first * Kind::Pointer.bytes() as u64;
            Ok(Given { at, kind, column: columns.of(group)?, apart: 0 })
        };
        let scalars = scalars.map(|at| at + group * scale.bytes() as u64);
        let members = members.of(group)?;
        product(
            handle,
            &Product {
                ops,
                size: [size[0].of(group)?, size[1].of(group)?, size[2].of(group)?],
                scalars,
                scale,
                a: given(a)?,
                b: given(b)?,
                c: given(c)?,
                compute,
                batch: Batch::ByPointers(members),
            },
        )?;
        first += members as u64;
    }
    Ok(())
}

fn gemm_grouped(
    kind: Kind,
    handle: Handle,
    op_a: *const u32,
    op_b: *const u32,
    m: Numbers,
    n: Numbers,
    k: Numbers,
    alpha: u64,
    a: u64,
    lda: Numbers,
    b: u64,
    ldb: Numbers,
    beta: u64,
    c: u64,
    ldc: Numbers,
    count: i64,
    members: Numbers,
) -> Result {
    let matrices = [(a, kind, lda), (b, kind, ldb), (c, kind, ldc)];
    groups((kind.compute(), kind), handle, [op_a, op_b], [m, n, k], [alpha, beta], matrices, count, members)
}

fn gemm_grouped_ex(
    handle: Handle,
    op_a: *const u32,
    op_b: *const u32,
    m: Numbers,
    n: Numbers,
    k: Numbers,
    alpha: u64,
    a: u64,
    a_kind: u32,
    lda: Numbers,
    b: u64,
    b_kind: u32,
    ldb: Numbers,
    beta: u64,
    c: u64,
    c_kind: u32,
    ldc: Numbers,
    count: i64,
    members: Numbers,
    compute: u32,
) -> Result {
    let kinds = kinds([a_kind, b_kind, c_kind])?;
    let matrices = [(a, kinds[0], lda), (b, kinds[1], ldb), (c, kinds[2], ldc)];
    groups(computed(compute, kinds)?, handle, [op_a, op_b], [m, n, k], [alpha, beta], matrices, count, members)
}

exports! {
    gemm_grouped (handle: Handle, op_a: *const u32, op_b: *const u32, m: *const Int, n: *const Int, k: *const Int,
        alpha: u64, a: u64, lda: *const Int, b: u64, ldb: *const Int, beta: u64, c: u64, ldc: *const Int, count: Int,
        members: *const Int) {
        cublasSgemmGroupedBatched(F32) cublasDgemmGroupedBatched(F64)
    }
    gemm_grouped_ex (handle: Handle, op_a: *const u32, op_b: *const u32, m: *const Int, n: *const Int, k: *const Int,
        alpha: u64, a: u64, a_kind: u32, lda: *const Int, b: u64, b_kind: u32, ldb: *const Int, beta: u64, c: u64,
        c_kind: u32, ldc: *const Int, count: Int, members: *const Int, compute: u32) {
        cublasGemmGroupedBatchedEx()
    }
}
