//! CUDA's word for a type.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V4<f32>) -> V4<f32> {
    unsafe { ptx!(ld.global.float4 [p]) }
}
