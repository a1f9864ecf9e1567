//! PTX writes the levels in capitals.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.l1::evict_last.f32 [p]) }
}
