//! A reference is not plain bits.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const &'static f32) -> &'static f32 {
    unsafe { ld_global::<NoHint, NoPrefetch>().read(p) }
}
