//! A cache operator is for weak accesses.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global::<Cg, NoPrefetch>().relaxed::<Gpu>().read(p) }
}
