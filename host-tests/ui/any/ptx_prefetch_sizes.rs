//! A prefetch size that PTX does not have.
use ptx_intrinsics::prelude::*;

fn main() {}

// PTX has three sizes.
fn ptx_prefetch_size_unknown(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.L2::32B.f32 [p]) }
}

// PTX has three sizes.
fn ptx_size_512(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.L2::512B.f32 [p]) }
}
