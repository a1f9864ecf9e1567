//! L1 priorities begin with PTX ISA 7.4.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<EvictLast, NoPrefetch>().read(p) }
}
