//! An embedding gather, `out[row] = table[index[row]]`: popular rows should stay in the cache, the
//! indices and the output should not push them out.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// 128-bit vectors in a row: 64 floats, 256 bytes.
pub const ROW: usize = 16;

/// A row is asked for again and again, and it is exactly one 256-byte prefetch long.
const TABLE: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();

/// An index serves the threads of one row, then never again.
const INDEX: LdGlobalNc<EvictFirst, NoPrefetch> = ld_global_nc();

/// How many rows a thread has in flight at once, while the indices of as many more arrive.
const UNROLL: usize = 2;

kernel! {
    /// Copies row `index[i]` of the table to row `i` of `out`. Half a warp moves a row.
    ///
    /// # Safety
    /// `out` is valid for writes of `rows * ROW` elements, `index` for reads of `rows`, and every
    /// index names a row of `table`; nobody else touches `out` and nobody writes to the others
    /// while the grid runs. The grid has a multiple of [`ROW`] threads, and there are fewer
    /// than 2^31 rows.
    pub unsafe fn gather(
        out: *mut V4<f32>,
        table: *const V4<f32>,
        index: *const u32,
        rows: usize,
    ) {
        let lane = global_index() as usize % ROW;
        let (table, out) = (table.wrapping_add(lane), out.wrapping_add(lane));
        // A number of 32 bits times the size of a row is one instruction.
        let (rows, step) = (rows as u32, global_size() / ROW as u32);
        let mut row = whole(global_index() / ROW as u32);
        // SAFETY: the address is touched only if the row is below `rows`.
        let read_index = |at: u32| unsafe { INDEX.read_if(at < rows, index.wrapping_add(at as usize), 0) };
        // Set one by one: a function that gave both would pack them into 64 bits, and the loop keep them so.
        let mut next = [0u32; UNROLL];
        for k in 0..UNROLL {
            next[k] = read_index(row + k as u32 * step);
        }
        while row < rows {
            let from = next;
            for k in 0..UNROLL {
                next[k] = read_index(row + (UNROLL + k) as u32 * step);
            }
            // SAFETY: the indices are as promised, and there is a row 0 if there is any.
            let values: [V4<f32>; UNROLL] =
                unsafe { core::array::from_fn(|k| TABLE.read(table.add(from[k] as usize * ROW))) };
            for k in 0..UNROLL {
                let at = row + k as u32 * step;
                if at < rows {
                    // SAFETY: the row is below `rows`.
                    unsafe { st_global::<Cs>().write(out.add(at as usize * ROW), values[k]) };
                }
            }
            row += UNROLL as u32 * step;
        }
    }
}
