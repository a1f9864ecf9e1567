//! A line has one L1 priority.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global::<(EvictFirst, EvictLast), NoPrefetch>().read(p) }
}
