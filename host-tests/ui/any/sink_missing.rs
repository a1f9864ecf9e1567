//! Each lane has a name or a sink.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<f32>) -> V8<f32> {
    unsafe { ptx!(ld.global.v8.f32 {d, _, d}, [p]) }
}
