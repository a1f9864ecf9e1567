//! A memory-mapped access is for the system.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.mmio.relaxed.gpu.global.f32 [p]) }
}
