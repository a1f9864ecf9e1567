//! They are alternatives.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.cg.L1::evict_last.f32 [p]) }
}
