//! `.L2::256B` begins with sm_80.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<NoHint, Prefetch256>().read(p) }
}
