//! A transpose through shared memory: a block of 32 by 8 threads turns a tile of 32 by 32, whose rows are one element
//! longer so that a column lies in 32 banks.

use core::arch::nvptx::{_block_idx_x, _block_idx_y, _thread_idx_x, _thread_idx_y};

use ptx_intrinsics::*;

use crate::block;

const TILE: usize = 32;
const ROWS: usize = 8;
const PITCH: usize = TILE + 1;

shared! { transpose_tile: [f32; TILE * PITCH] }

/// Writes the transpose of a matrix of `width` columns and `height` rows, both multiples of 32.
///
/// # Safety
/// `out` is valid for writes and `input` for reads of `width * height` elements; nobody else touches `out`, and nobody
/// writes to `input` while the grid runs. There is a block of 32 by 8 threads for each tile.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn transpose(out: *mut f32, input: *const f32, width: u32, height: u32) {
    // SAFETY: these only read special registers.
    let place = unsafe { [_thread_idx_x(), _thread_idx_y(), _block_idx_x(), _block_idx_y()] };
    let [x, y, block_x, block_y] = place.map(|number| number as u32 as usize);
    let (width, height) = (width as usize, height as usize);
    let tile = transpose_tile().cast::<f32>();
    // SAFETY: the tile lies in the matrix; a barrier stands between writing and reading shared memory.
    unsafe {
        let from = input.add((block_y * TILE + y) * width + block_x * TILE + x);
        let to = out.add((block_x * TILE + y) * height + block_y * TILE + x);
        let values: [f32; TILE / ROWS] = core::array::from_fn(|k| ldg(from.add(k * ROWS * width)));
        for k in 0..TILE / ROWS {
            st_shared().write(tile.add(y * PITCH + x + k * ROWS * PITCH), values[k]);
        }
        block::sync();
        for k in 0..TILE / ROWS {
            stcs(to.add(k * ROWS * height), ld_shared().read(tile.add(x * PITCH + y + k * ROWS).cast_const()));
        }
    }
}
