//! `ldu` moves up to 128 bits, and all of them.
use ptx_intrinsics::prelude::*;

fn kernel(p: *const V8<f32>) -> V8<f32> {
    unsafe { ptx!(ldu.global.v8.f32 {d, _, d, d, d, d, d, d}, [p]) }
}

fn main() {}
