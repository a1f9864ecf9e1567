//! bf16 came with sm_90.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut B32, v: B32) {
    unsafe { ptx!(red.global.add.noftz.bf16x2 [p], v) }
}

fn main() {}
