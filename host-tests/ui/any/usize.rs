//! Its size is the machine's.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const usize) -> usize {
    unsafe { ldg(p) }
}
