//! `.b128` at the scope of the system begins with PTX ISA 8.4.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const u128) -> u128 {
    unsafe { ld().acquire::<Sys>().read(p) }
}
