//! The read-only path is for global memory.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.nc.f32 [p]) }
}
