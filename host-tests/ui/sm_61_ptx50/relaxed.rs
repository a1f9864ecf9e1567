//! Orders begin with sm_70.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld().relaxed::<Gpu>().read(p) }
}
