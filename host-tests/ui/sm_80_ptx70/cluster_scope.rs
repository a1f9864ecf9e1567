//! `.cluster` begins with sm_90.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld().relaxed::<Cluster>().read(p) }
}
