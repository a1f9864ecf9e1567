//! PTX joins the parts of a word by two colons.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.L1:evict_last.f32 [p]) }
}
