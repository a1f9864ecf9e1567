//! Relaxed towards whom?
use ptx_intrinsics::prelude::*;

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_shared().relaxed().read(p) }
}

fn main() {}
