//! Shared memory is not cached.
use ptx_intrinsics::prelude::*;

fn kernel(p: *const f32, policy: CachePolicy) -> f32 {
    unsafe { ld_shared().read_with(p, policy) }
}

fn main() {}
