//! L2 priorities begin with sm_100 and PTX ISA 8.8.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V4<u64>) -> V4<u64> {
    unsafe { ld_global_nc::<L2EvictLast, NoPrefetch>().read(p) }
}
