//! A volatile access has no hint.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global::<NoAllocate, NoPrefetch>().volatile().read(p) }
}
