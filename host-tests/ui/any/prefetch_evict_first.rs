//! `prefetch` has no `.L2::evict_first`.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) {
    unsafe { prefetch_global_l2::<L2EvictFirst>(p) }
}
