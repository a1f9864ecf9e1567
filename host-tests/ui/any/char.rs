//! Nor is every `u32` a `char`.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const char) -> char {
    unsafe { ldg(p) }
}
