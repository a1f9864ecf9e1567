//! An address in another block is none in this block's shared memory.
use ptx_intrinsics::prelude::*;

fn kernel(theirs: SharedClusterPtr<u32>) {
    unsafe { ptx!(red.shared.add.u32 [theirs], 1) }
}

fn main() {}
