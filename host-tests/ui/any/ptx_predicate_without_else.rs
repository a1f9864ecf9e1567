//! A load that may not happen has another value.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(@true ld.global.f32 [p]) }
}
