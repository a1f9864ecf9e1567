//! More than a name has parentheses.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(@!p.is_null() ld.global.f32 [p], else 0.0) }
}
