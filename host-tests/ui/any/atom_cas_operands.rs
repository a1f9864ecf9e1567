//! What is compared?
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut u32) -> u32 {
    unsafe { ptx!(atom.relaxed.gpu.global.cas.b32 [p], 1) }
}

fn main() {}
