//! `.volatile` on local memory begins with PTX ISA 9.1.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_local().volatile().read(p) }
}
