//! An exchange gives something back.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut u32) {
    unsafe { ptx!(red.relaxed.gpu.global.exch.b32 [p], 1) }
}

fn main() {}
