//! After the type comes an address.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel() -> f32 {
    unsafe { ptx!(ld.global.f32) }
}
