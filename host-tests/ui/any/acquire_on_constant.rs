//! Constant memory orders nothing.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_const().acquire::<Gpu>().read(p) }
}
