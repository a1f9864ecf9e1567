//! An L2 priority is for 256 bits.
use ptx_intrinsics::prelude::*;

fn main() {}

// L2 priorities are for 256-bit types.
fn l2_priority_on_32_bits(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<L2EvictLast, NoPrefetch>().read(p) }
}

// L2 priorities are for 256-bit types.
fn l2_priority_on_store(p: *mut u64) {
    unsafe { st_global::<L2EvictFirst>().write(p, 1) }
}

// So are pairs.
fn pair_on_128_bits(p: *const V4<f32>) -> V4<f32> {
    unsafe { ld_global_nc::<(EvictFirst, L2EvictLast), NoPrefetch>().read(p) }
}
