//! Rows copied by a warp each, as tokens are sent to their experts.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Loads of a lane that are on their way at once.
const UNROLL: usize = 16;

/// Each line is read once and whole.
const STREAM: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

kernel! {
    /// Copies `rows` rows of `vectors` vectors, as one writes it first.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `rows * vectors` vectors, fewer than 2^31; nobody else touches `out`, and
    /// nobody writes to `input` while the grid runs. A block is whole warps.
    pub unsafe fn warp_copy_first(out: *mut V4<u32>, input: *const V4<u32>, rows: u32, vectors: u32) {
        let mut row = global_index() / WARP_SIZE;
        while row < rows {
            for at in (row * vectors + lane_id()..(row + 1) * vectors).step_by(WARP_SIZE as usize) {
                // SAFETY: the vector is of that row.
                unsafe { *out.add(at as usize) = ldg(input.add(at as usize)) };
            }
            row += global_size() / WARP_SIZE;
        }
    }
}

kernel! {
    /// The same.
    ///
    /// # Safety
    /// As for [`warp_copy_first`]. A block has at most 256 threads.
    #[launch_bounds(256, 2)]
    pub unsafe fn warp_copy(out: *mut V4<u32>, input: *const V4<u32>, rows: u32, vectors: u32) {
        const STEP: u32 = WARP_SIZE * UNROLL as u32;
        let warps = global_size() / WARP_SIZE;
        let mut row = global_index() / WARP_SIZE;
        while row < rows {
            let (mut at, end) = (whole(row * vectors + lane_id()), (row + 1) * vectors);
            // SAFETY: the vectors are of that row.
            unsafe {
                while at + (STEP - WARP_SIZE) < end {
                    let (from, to) = (input.add(at as usize), out.add(at as usize));
                    let values: [V4<u32>; UNROLL] =
                        core::array::from_fn(|k| STREAM.read(from.add(k * WARP_SIZE as usize)));
                    for k in 0..UNROLL {
                        st_global::<NoAllocate>().write(to.add(k * WARP_SIZE as usize), values[k]);
                    }
                    at += STEP;
                }
                while at < end {
                    st_global::<NoAllocate>().write(out.add(at as usize), STREAM.read(input.add(at as usize)));
                    at += WARP_SIZE;
                }
            }
            row += warps;
        }
    }
}
