//! A generic function loads in an order.
use ptx_intrinsics::prelude::*;

pub unsafe fn load<T: Element>(p: *const T) -> T {
    unsafe { ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(p) }
}

fn main() {}
