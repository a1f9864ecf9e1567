//! Tensor maps begin with sm_90 and PTX ISA 8.0.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const u128) {
    unsafe { prefetch_tensormap(p) }
}
