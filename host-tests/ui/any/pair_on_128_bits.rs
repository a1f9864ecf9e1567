//! So are pairs.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V4<f32>) -> V4<f32> {
    unsafe { ld_global_nc::<(EvictFirst, L2EvictLast), NoPrefetch>().read(p) }
}
