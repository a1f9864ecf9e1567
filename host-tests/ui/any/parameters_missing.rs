//! A load is told how it is cached, and what it brings with it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc().read(p) }
}
