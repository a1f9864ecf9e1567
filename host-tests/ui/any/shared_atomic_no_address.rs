//! A number is no address in shared memory: `SharedPtr::from_address` makes one of it.
use ptx_intrinsics::prelude::*;

fn kernel(counts: u32) {
    unsafe { ptx!(red.shared.add.u32 [counts], 1) }
}

fn main() {}
