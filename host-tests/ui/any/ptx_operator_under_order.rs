//! A cache operator is for weak accesses.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.relaxed.gpu.global.cg.f32 [p]) }
}
