//! A seven-point stencil: a thread walks along z and keeps what it has read of its own column in registers.

use core::arch::nvptx::{_block_dim_y, _block_idx_y, _thread_idx_y};
use core::f32::math::mul_add;

use kernels::Thread;
use ptx_intrinsics::*;

/// Writes `centre * at + neighbour * (the six beside it)` for every inner point of an `nx * ny * nz` grid.
///
/// # Safety
/// `out` is valid for writes and `input` for reads of `nx * ny * nz` elements, fewer than 2^31; nobody else touches
/// `out`, and nobody writes to `input` while the grid runs.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn stencil(
    out: *mut f32,
    input: *const f32,
    nx: u32,
    ny: u32,
    nz: u32,
    centre: f32,
    neighbour: f32,
) {
    let x = Thread::current().index() as u32;
    // SAFETY: these only read special registers.
    let y = unsafe { (_block_idx_y() * _block_dim_y() + _thread_idx_y()) as u32 };
    if x < 1 || y < 1 || x + 1 >= nx || y + 1 >= ny || nz < 3 {
        return;
    }
    let (row, plane) = (nx as usize, nx as usize * ny as usize);
    let start = y as usize * row + x as usize;
    // SAFETY: the point and its six neighbours lie in the grid.
    unsafe {
        let mut from = input.add(start + plane);
        let mut to = out.add(start + plane);
        let (mut below, mut here) = (ldg(input.add(start)), ldg(from));
        for _ in 2..nz {
            let above = ldg(from.add(plane));
            let beside = ldg(from.sub(1)) + ldg(from.add(1)) + ldg(from.sub(row)) + ldg(from.add(row));
            stcs(to, mul_add(centre, here, neighbour * (beside + below + above)));
            (below, here) = (here, above);
            (from, to) = (from.add(plane), to.add(plane));
        }
    }
}
