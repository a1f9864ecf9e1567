//! Hints under an order are spelled by `ptx!`.
use ptx_intrinsics::prelude::*;

fn kernel(p: *const f32, policy: CachePolicy) -> f32 {
    unsafe { ld_global::<NoHint, NoPrefetch>().relaxed::<Gpu>().read_with(p, policy) }
}

fn main() {}
