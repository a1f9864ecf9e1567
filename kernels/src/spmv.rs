//! A sparse matrix in compressed rows times a vector: the matrix passes by once, the vector is
//! asked for by every neighbour.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// A row is short, so neighbouring threads share lines of the matrix: those must live in L1, but
/// only until the last neighbour has read.
const MATRIX: LdGlobalNc<EvictFirst, NoPrefetch> = ld_global_nc();

/// Each element of the vector is read once for every entry of its column.
const VECTOR: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

/// How many entries of a row are in flight at once: the five-point matrix needs one round.
const ROUND: usize = 5;

kernel! {
    /// Computes `y = A x`; a thread adds up a row, in the order of its entries, each product and
    /// sum rounded.
    ///
    /// # Safety
    /// `y` is valid for writes of `rows` elements and `row_start` for reads of `rows + 1`, which
    /// ascend; `columns` and `values` are valid for reads up to the last of them, and every column
    /// names an element of `x`. Nobody else touches `y` and nobody writes to the others while the
    /// grid runs.
    pub unsafe fn spmv(
        y: *mut f32,
        row_start: *const u32,
        columns: *const u32,
        values: *const f32,
        x: *const f32,
        rows: usize,
    ) {
        let mut row = global_index() as usize;
        while row < rows {
            // SAFETY: the row is below `rows`.
            let (mut at, end) = unsafe {
                (MATRIX.read(row_start.add(row)), MATRIX.read(row_start.add(row + 1)))
            };
            let mut sum = 0.0;
            while at < end {
                // Compared with what is left, and added to one address, `k` is a constant of the instruction.
                let left = (end - at) as usize;
                // SAFETY: an address is touched only if its entry is below the row's end.
                let products: [f32; ROUND] = unsafe {
                    let (columns, values) = (columns.add(at as usize), values.add(at as usize));
                    let column: [u32; ROUND] = core::array::from_fn(|k| MATRIX.read_if(k < left, columns.add(k), 0));
                    let value: [f32; ROUND] = core::array::from_fn(|k| MATRIX.read_if(k < left, values.add(k), 0.0));
                    core::array::from_fn(|k| {
                        value[k] * VECTOR.read_if(k < left, x.add(column[k] as usize), 0.0)
                    })
                };
                for k in 0..ROUND {
                    sum = if k < left { sum + products[k] } else { sum };
                }
                at += ROUND as u32;
            }
            // SAFETY: the row is below `rows`.
            unsafe { st_global::<Cs>().write(y.add(row), sum) };
            row += global_size() as usize;
        }
    }
}
