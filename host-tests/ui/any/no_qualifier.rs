//! A type that is no qualifier at all.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<f32, NoPrefetch>().read(p) }
}
