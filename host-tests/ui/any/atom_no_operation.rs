//! Which operation?
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut u32) {
    unsafe { ptx!(red.relaxed.gpu.global.u32 [p], 1) }
}

fn main() {}
