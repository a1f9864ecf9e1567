//! `prefetch.global.L2::evict_last` begins with sm_80.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) {
    unsafe { prefetch_global_l2::<L2EvictLast>(p) }
}
