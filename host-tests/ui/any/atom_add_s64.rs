//! A signed sum is the unsigned one.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut i64) -> i64 {
    unsafe { ptx!(atom.relaxed.gpu.global.add.s64 [p], 1) }
}

fn main() {}
