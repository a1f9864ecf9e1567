//! Stream compaction: the elements that are not below a threshold, in any order, and how many there are.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Each line is read once and whole.
const STREAM: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// Vectors of a thread that are on their way at once.
pub const UNROLL: usize = 2;

kernel! {
    /// Selects from `n` elements, as one writes it first.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `n` elements, `count` for both of a number, which is zero; nobody else
    /// touches any of them while the grid runs.
    pub unsafe fn compact_first(out: *mut u32, count: *mut u32, input: *const u32, n: u32, least: u32) {
        let mut i = global_index();
        while i < n {
            // SAFETY: the element is below `n`, and so is what is counted.
            unsafe {
                let value = ldg(input.add(i as usize));
                if value >= least {
                    let at = ptx!(atom.relaxed.gpu.global.add.u32 [count], 1);
                    *out.add(at as usize) = value;
                }
            }
            i += global_size();
        }
    }
}

kernel! {
    /// The same: two vectors of each lane are on their way, and a warp counts once for all of them.
    ///
    /// # Safety
    /// As for [`compact_first`], with `vectors` vectors of four elements, fewer than 2^30. A block is whole warps, of at most 256
    /// threads.
    #[launch_bounds(256, 2)]
    pub unsafe fn compact(out: *mut u32, count: *mut u32, input: *const V4<u32>, vectors: u32, least: u32) {
        let (lane, step) = (lane_id(), global_size());
        let before = (1 << lane) - 1;
        let mut first = global_index() - lane;
        // The bound is the same for all lanes of a warp: each ballot has all of them.
        while first < vectors {
            let mut values = [V4::new([0; 4]); UNROLL];
            let mut masks = [[0; 4]; UNROLL];
            let mut before_mask = [[0; 4]; UNROLL];
            let mut all = 0;
            // SAFETY: a vector is read if there is one; as many places are taken as are written.
            unsafe {
                for k in 0..UNROLL {
                    let at = whole(first + lane + k as u32 * step);
                    values[k] = STREAM.read_if(at < vectors, input.wrapping_add(at as usize), V4::new([0; 4]));
                }
                for k in 0..UNROLL {
                    let is_one = first + lane + (k as u32 * step) < vectors;
                    for part in 0..4 {
                        masks[k][part] = ballot(is_one && values[k].0[part] >= least);
                        before_mask[k][part] = all;
                        all += masks[k][part].count_ones();
                    }
                }
                // The value of the other lanes is not read.
                let place = ptx!(@(lane == 0) atom.relaxed.gpu.global.add.u32 [count], all, else _);
                let place = shuffle(place, 0);
                for k in 0..UNROLL {
                    for part in 0..4 {
                        let mask = masks[k][part];
                        let at = whole(place + before_mask[k][part] + (mask & before).count_ones());
                        if mask >> lane & 1 != 0 {
                            st_global::<Cs>().write(out.add(at as usize), values[k].0[part]);
                        }
                    }
                }
            }
            first += UNROLL as u32 * step;
        }
    }
}
