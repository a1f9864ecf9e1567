//! The type comes last.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V4<f32>) -> V4<f32> {
    unsafe { ptx!(ld.global.f32.v4 [p]) }
}
