//! The methods take one priority under an order.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global::<EvictLast, NoPrefetch>().acquire::<Gpu>().read(p) }
}
