//! 512 bits are too many.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<f64>) -> V8<f64> {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}
