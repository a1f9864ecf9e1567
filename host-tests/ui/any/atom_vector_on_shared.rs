//! Vectors are changed in global memory.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut V2<f32>, v: V2<f32>) {
    unsafe { ptx!(red.shared.add.v2.f32 [p], v) }
}

fn main() {}
