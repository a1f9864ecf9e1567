//! The second parameter is the prefetch size.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<EvictLast>().read(p) }
}
