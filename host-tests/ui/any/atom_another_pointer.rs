//! The words and the pointer have one type.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut f64) {
    unsafe { ptx!(red.global.add.f32 [p], 1.0) }
}

fn main() {}
