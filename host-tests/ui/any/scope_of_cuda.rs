//! CUDA's word for a scope, as a type.
#![deny(deprecated)]
use ptx_intrinsics::prelude::*;

fn kernel(p: *const u32) -> u32 {
    unsafe { ld_global::<NoHint, NoPrefetch>().acquire::<Device>().read(p) }
}

fn main() {}
