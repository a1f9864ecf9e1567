//! `ldu` is of global memory.
use ptx_intrinsics::prelude::*;

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ldu.shared.f32 [p]) }
}

fn main() {}
