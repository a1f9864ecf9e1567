//! PTX has three sizes.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.L2::512B.f32 [p]) }
}
