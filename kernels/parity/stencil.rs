//! A seven-point stencil: a thread walks along z and keeps what it has read of its own column in registers.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

kernel! {
    /// Writes `centre * at + neighbour * (the six beside it)` for every inner point of an `nx * ny * nz` grid.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `nx * ny * nz` elements, fewer than 2^31; nobody else touches
    /// `out`, and nobody writes to `input` while the grid runs.
    pub unsafe fn stencil(
        out: *mut f32,
        input: *const f32,
        nx: u32,
        ny: u32,
        nz: u32,
        centre: f32,
        neighbour: f32,
    ) {
        let x = global_index();
        let y = block_idx_y() * block_dim_y() + thread_idx_y();
        if x < 1 || y < 1 || x + 1 >= nx || y + 1 >= ny || nz < 3 {
            return;
        }
        let plane = nx * ny;
        let start = y * nx + x;
        // SAFETY: the point and its six neighbours lie in the grid.
        unsafe {
            let mut at = start + plane;
            let (mut below, mut here) = (ldg(input.add(start as usize)), ldg(input.add(at as usize)));
            for _ in 2..nz {
                let from = input.add(at as usize);
                let row = ldg(from.sub(1)) + ldg(from.add(1));
                let beside = row + ldg(input.add((at - nx) as usize)) + ldg(input.add((at + nx) as usize));
                let next = whole(at + plane);
                let above = ldg(input.add(next as usize));
                stcs(out.add(at as usize), mul_add(centre, here, neighbour * (beside + below + above)));
                (below, here, at) = (here, above, next);
            }
        }
    }
}
