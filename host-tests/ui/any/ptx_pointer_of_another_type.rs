//! The pointer is to the type that the words say.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.u32 [p]) }
}
