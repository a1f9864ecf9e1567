//! 16-bit floats are moved as bits.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const u16) -> u16 {
    unsafe { ptx!(ld.global.f16 [p]) }
}
