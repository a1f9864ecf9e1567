//! An L2 priority needs 256 bits.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.L2::evict_last.f32 [p]) }
}
