//! An access policy is made by its function, which asks whether the target has it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { LdGlobalNc::<EvictLast, Prefetch256>::default().read(p) }
}
