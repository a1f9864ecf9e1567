//! The methods put a predicate on weak accesses.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld().acquire::<Gpu>().read_if(true, p, 0.0) }
}
