//! An embedding gather, `out[row] = table[index[row]]`: popular rows should stay in the cache, the
//! indices and the output should not push them out.

use crate::Thread;
use ptx_intrinsics::*;

/// 128-bit vectors in a row: 64 floats, 256 bytes.
pub const ROW: usize = 16;

/// A row is asked for again and again, and it is exactly one 256-byte prefetch long.
const TABLE: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();

/// An index serves the threads of one row, then never again.
const INDEX: LdGlobalNc<EvictFirst, NoPrefetch> = ld_global_nc();

/// How many rows a thread has in flight at once.
const UNROLL: usize = 4;

kernel! {
    /// Copies row `index[i]` of the table to row `i` of `out`. Half a warp moves a row.
    ///
    /// # Safety
    /// `out` is valid for writes of `rows * ROW` elements, `index` for reads of `rows`, and every
    /// index names a row of `table`; nobody else touches `out` and nobody writes to the others
    /// while the grid runs. The grid has a multiple of [`ROW`] threads.
    pub unsafe fn gather(
        thread: Thread,
        out: *mut V4<f32>,
        table: *const V4<f32>,
        index: *const u32,
        rows: usize,
    ) {
        let lane = thread.index() % ROW;
        let step = thread.count() / ROW;
        let mut row = thread.index() / ROW;
        while row + (UNROLL - 1) * step < rows {
            // SAFETY: the last of these rows is below `rows`; the indices are as promised.
            unsafe {
                let from: [u32; UNROLL] = core::array::from_fn(|k| INDEX.read(index.add(row + k * step)));
                let values: [V4<f32>; UNROLL] =
                    core::array::from_fn(|k| TABLE.read(table.add(from[k] as usize * ROW + lane)));
                for k in 0..UNROLL {
                    st_global::<Cs>().write(out.add((row + k * step) * ROW + lane), values[k]);
                }
            }
            row += UNROLL * step;
        }
        while row < rows {
            // SAFETY: the row is below `rows`; the index is as promised.
            unsafe {
                let from = INDEX.read(index.add(row));
                let value = TABLE.read(table.add(from as usize * ROW + lane));
                st_global::<Cs>().write(out.add(row * ROW + lane), value);
            }
            row += step;
        }
    }
}
