//! PTX adds.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut i32) {
    unsafe { ptx!(red.global.sub.s32 [p], 1) }
}
