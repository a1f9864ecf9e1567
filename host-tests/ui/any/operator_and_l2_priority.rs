//! Nor does the priority of the other level help.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global::<(Cg, L2EvictLast), NoPrefetch>().read(p) }
}
