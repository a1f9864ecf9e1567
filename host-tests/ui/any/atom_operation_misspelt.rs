//! A word that PTX does not have.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut u32) {
    unsafe { ptx!(red.global.addd.u32 [p], 1) }
}
