//! PTX has no type for it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const bool) -> bool {
    unsafe { ptx!(ld.global.u8 [p]) }
}
