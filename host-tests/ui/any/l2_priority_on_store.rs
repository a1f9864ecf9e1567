//! L2 priorities are for 256-bit types.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut u64) {
    unsafe { st_global::<L2EvictFirst>().write(p, 1) }
}
