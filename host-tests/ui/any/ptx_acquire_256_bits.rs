//! The assembler forgets the order of 256 bits.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<f32>) -> V8<f32> {
    unsafe { ptx!(ld.acquire.gpu.global.v8.f32 [p]) }
}
