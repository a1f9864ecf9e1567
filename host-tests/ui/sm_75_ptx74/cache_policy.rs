//! `.L2::cache_hint` begins with sm_80.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32, policy: CachePolicy) -> f32 {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read_with(p, policy) }
}
