//! Nothing is changed in constant memory.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut u32) -> u32 {
    unsafe { ptx!(atom.const.add.u32 [p], 1) }
}

fn main() {}
