//! Shared memory moves 128 bits at a time.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<f32>) -> V8<f32> {
    unsafe { ld_shared().read(p) }
}
