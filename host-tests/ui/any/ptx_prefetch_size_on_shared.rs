//! Shared memory has no L2.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.shared.L2::128B.f32 [p]) }
}
