//! One error, whatever the macro makes of it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    ptx!(ld.global.f32 [p])
}
