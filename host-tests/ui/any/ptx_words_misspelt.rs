//! The word that is meant is named, also where it is no order, space or type.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut u32, half: *mut B16, v: u32, h: B16, policy: CachePolicy) {
    unsafe {
        ptx!(ld.global.L2::cache_hnt.u32 [p], policy);
        ptx!(atom.global.add.L2::cache_hnt.u32 [p], v, policy);
        ptx!(atom.global.add.noftc.f16 [half], h);
    }
}
