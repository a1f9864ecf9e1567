//! No policy on a comparison.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut u32, policy: CachePolicy) -> u32 {
    unsafe { ptx!(atom.global.cas.L2::cache_hint.b32 [p], 1, 2, policy) }
}

fn main() {}
