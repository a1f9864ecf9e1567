//! `.b128` begins with PTX ISA 8.3.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const u128) -> u128 {
    unsafe { ld_global::<NoHint, NoPrefetch>().read(p) }
}
