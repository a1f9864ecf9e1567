//! The methods take one priority under an order.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32) {
    unsafe { st_global::<EvictFirst>().release::<Gpu>().write(p, 1.0) }
}
