//! The assembler makes a weak load of it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.relaxed.gpu.global.L1::evict_first.f32 [p]) }
}
