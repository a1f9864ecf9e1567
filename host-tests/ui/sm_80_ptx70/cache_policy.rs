//! `.L2::cache_hint` begins with PTX ISA 7.4.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32, policy: CachePolicy) {
    unsafe { st_global::<NoHint>().write_with(p, 1.0, policy) }
}
