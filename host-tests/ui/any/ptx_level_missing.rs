//! A priority is one of L1 or of L2.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.evict_last.f32 [p]) }
}
