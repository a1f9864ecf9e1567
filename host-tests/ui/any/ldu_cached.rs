//! `ldu` takes no cache operator.
use ptx_intrinsics::prelude::*;

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ldu.global.ca.f32 [p]) }
}

fn main() {}
