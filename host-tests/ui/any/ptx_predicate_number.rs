//! A predicate is true or false.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32, found: u32) -> f32 {
    unsafe { ptx!(@found ld.global.f32 [p], else 0.0) }
}
