//! A word is refused beside another, and the error names it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn loads(p: *const f32, policy: CachePolicy) {
    unsafe {
        ptx!(ld.mmio.sys.global.f32 [p]);
        ptx!(ld.volatile.const.f32 [p]);
        ptx!(ld.acq_rel.gpu.global.f32 [p]);
        ptx!(ld.release.gpu.global.f32 [p]);
        ptx!(ldu.global.nc.f32 [p]);
        ptx!(ldu.global.L2::cache_hint.f32 [p], policy);
    }
}

fn atomics(p: *mut u32, v: u32, policy: CachePolicy) {
    unsafe {
        ptx!(atom.shared.add.L2::cache_hint.u32 [p], v, policy);
    }
}
