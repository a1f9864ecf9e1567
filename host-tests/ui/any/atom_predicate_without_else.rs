//! What is the value where the predicate is false?
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut u32, cond: bool) -> u32 {
    unsafe { ptx!(@cond atom.global.add.u32 [p], 1) }
}

fn main() {}
