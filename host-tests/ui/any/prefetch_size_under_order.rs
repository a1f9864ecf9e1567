//! The methods take no prefetch size under an order.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global::<NoHint, Prefetch128>().acquire::<Gpu>().read(p) }
}
