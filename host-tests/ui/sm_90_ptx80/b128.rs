//! `.b128` begins with PTX ISA 8.3.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const B128) -> B128 {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}
