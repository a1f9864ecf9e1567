//! L2 priorities are for 256-bit types.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<L2EvictLast, NoPrefetch>().read(p) }
}
