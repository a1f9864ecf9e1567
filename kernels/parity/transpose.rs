//! A transpose through shared memory: a block of 32 by 8 threads turns a tile of 32 by 32, whose rows are one element
//! longer so that a column lies in 32 banks.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

const TILE: u32 = 32;
const ROWS: u32 = 8;
const PITCH: u32 = TILE + 1;
const EACH: usize = (TILE / ROWS) as usize;

shared! {
    fn transpose_tile() -> [f32; (TILE * PITCH) as usize];
}

kernel! {
    /// Writes the transpose of a matrix of `width` columns and `height` rows, both multiples of 32.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `width * height` elements, fewer than 2^31; nobody else touches `out`, and nobody
    /// writes to `input` while the grid runs. There is a block of 32 by 8 threads for each tile.
    pub unsafe fn transpose(out: *mut f32, input: *const f32, width: u32, height: u32) {
        let (x, y, block_x, block_y) = (thread_idx_x(), thread_idx_y(), block_idx_x(), block_idx_y());
        let tile = transpose_tile().cast::<f32>();
        // SAFETY: the tile lies in the matrix; a barrier is between writing and reading shared memory.
        unsafe {
            let from = whole((block_y * TILE + y) * width + block_x * TILE + x);
            let to = whole((block_x * TILE + y) * height + block_y * TILE + x);
            let values: [f32; EACH] = core::array::from_fn(|k| ldg(input.add((from + k as u32 * ROWS * width) as usize)));
            let (mine, column) = (tile.add(y * PITCH + x), tile.add(x * PITCH + y));
            for k in 0..EACH {
                mine.add(k as u32 * ROWS * PITCH).write(values[k]);
            }
            sync_threads();
            for k in 0..EACH {
                stcs(out.add((to + k as u32 * ROWS * height) as usize), column.add(k as u32 * ROWS).read());
            }
        }
    }
}
