//! A load is unsafe.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    ld_global_nc::<NoHint, NoPrefetch>().read(p)
}
