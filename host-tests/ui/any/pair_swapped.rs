//! In a pair, L1 comes first.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<f32>) -> V8<f32> {
    unsafe { ld_global_nc::<(L2EvictLast, EvictLast), NoPrefetch>().read(p) }
}
