//! Each qualifier says for itself what it lacks.
use ptx_intrinsics::prelude::*;

const WEIGHTS: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { WEIGHTS.read(p) }
}
