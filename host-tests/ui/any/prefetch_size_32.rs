//! The prefetch sizes are 64, 128 and 256 bytes.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<NoHint, Prefetch<32>>().read(p) }
}
