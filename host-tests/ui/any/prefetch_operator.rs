//! `prefetch` takes no cache operator.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) {
    unsafe { prefetch_global_l2::<Cg>(p) }
}
