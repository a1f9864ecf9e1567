//! `.L2::cache_hint` begins with sm_80.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.L2::cache_hint.f32 [p], CachePolicy::EVICT_LAST) }
}
