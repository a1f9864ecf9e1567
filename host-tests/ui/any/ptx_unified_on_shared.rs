//! It belongs on global addresses.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.shared.f32 [p].unified) }
}
