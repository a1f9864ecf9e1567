//! A word of each kind.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.ca.cg.f32 [p]) }
}
