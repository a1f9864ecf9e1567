//! A function that is generic over the caching qualifier.
use ptx_intrinsics::prelude::*;

pub unsafe fn load<C: LdGlobalCaching>(access: LdGlobal<C, NoPrefetch>, p: *const f32) -> f32 {
    unsafe { access.read(p) }
}

fn main() {}
