//! CUDA's word for a scope.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.acquire.device.global.f32 [p]) }
}
