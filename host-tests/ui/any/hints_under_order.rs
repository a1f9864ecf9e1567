//! A hint that an ordered access does not have.
use ptx_intrinsics::prelude::*;

fn main() {}

// A cache operator is for weak accesses.
fn operator_under_order(p: *const f32) -> f32 {
    unsafe { ld_global::<Cg, NoPrefetch>().relaxed::<Gpu>().read(p) }
}

// The methods take one priority under an order.
fn priority_under_order(p: *const f32) -> f32 {
    unsafe { ld_global::<EvictLast, NoPrefetch>().acquire::<Gpu>().read(p) }
}

// The methods take one priority under an order.
fn priority_under_release(p: *mut f32) {
    unsafe { st_global::<EvictFirst>().release::<Gpu>().write(p, 1.0) }
}
