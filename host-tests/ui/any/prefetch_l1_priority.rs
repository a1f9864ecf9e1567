//! `prefetch` into L2 takes no L1 priority.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) {
    unsafe { prefetch_global_l2::<EvictLast>(p) }
}
