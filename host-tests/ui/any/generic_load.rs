//! A generic function loads a type without a bound.
use ptx_intrinsics::prelude::*;

pub unsafe fn load<T>(p: *const T) -> T {
    unsafe { ld_global::<NoHint, NoPrefetch>().read(p) }
}

fn main() {}
