//! Caching comes first, the prefetch size second.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<Prefetch256, EvictLast>().read(p) }
}
