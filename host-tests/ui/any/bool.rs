//! A `bool` must be 0 or 1, and memory holds what it holds.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const bool) -> bool {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}
