//! `.L2::64B` begins with sm_75.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<NoHint, Prefetch64>().read(p) }
}
