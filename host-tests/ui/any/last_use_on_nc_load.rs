//! `ld.global.nc` has no `.lu`.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<Lu, NoPrefetch>().read(p) }
}
