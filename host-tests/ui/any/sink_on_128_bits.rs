//! Only a 256-bit access leaves lanes out.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V4<f32>) -> V4<f32> {
    unsafe { ptx!(ld.global.nc.L1::evict_last.v4.f32 {d, _, _, d}, [p]) }
}
