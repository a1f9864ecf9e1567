//! Memory-mapped accesses move scalars.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V2<f32>) -> V2<f32> {
    unsafe { ld().mmio().read(p) }
}
