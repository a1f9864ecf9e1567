//! One error, whatever the macro makes of it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut u32) -> u32 {
    ptx!(atom.global.add.u32 [p], 1)
}
