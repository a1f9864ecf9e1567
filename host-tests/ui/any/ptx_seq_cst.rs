//! Rust's word for an order that PTX has as a fence.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.seq_cst.sys.global.f32 [p]) }
}
