//! A vector that PTX does not have.
use ptx_intrinsics::prelude::*;

fn main() {}

// PTX has no such vector.
fn ptx_v3(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.v3.f32 [p]) }
}

// PTX has no such vector.
fn ptx_v8_of_64_bits(p: *const V8<f64>) -> V8<f64> {
    unsafe { ptx!(ld.global.v8.f64 [p]) }
}
