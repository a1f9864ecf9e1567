//! Floats of 16 bits are added without flushing.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut B32, v: B32) {
    unsafe { ptx!(red.relaxed.gpu.global.add.f16x2 [p], v) }
}

fn main() {}
