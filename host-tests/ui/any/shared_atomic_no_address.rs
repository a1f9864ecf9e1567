//! An atomic in shared memory wants a pointer.
use ptx_intrinsics::*;

fn kernel(counts: &[u32]) {
    unsafe { ptx!(red.shared.add.u32 [counts], 1) }
}

fn main() {}
