//! A word that PTX does not have.
use ptx_intrinsics::*;

fn main() {}

fn kernel(p: *mut u32) {
    unsafe { ptx!(red.global.addd.u32 [p], 1) }
}
