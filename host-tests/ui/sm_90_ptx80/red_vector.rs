//! Vectors came with PTX ISA 8.1.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut V4<f32>, v: V4<f32>) {
    unsafe { ptx!(red.relaxed.gpu.global.add.v4.f32 [p], v) }
}

fn main() {}
