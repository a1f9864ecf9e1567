//! PTX has no such vector.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<f64>) -> V8<f64> {
    unsafe { ptx!(ld.global.v8.f64 [p]) }
}
