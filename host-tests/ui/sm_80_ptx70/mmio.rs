//! `.mmio` begins with PTX ISA 8.2.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld().mmio().read(p) }
}
