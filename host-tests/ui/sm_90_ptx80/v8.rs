//! 256 bits begin with sm_100 and PTX ISA 8.8.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<f32>) -> V8<f32> {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}
