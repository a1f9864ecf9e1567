//! A word that PTX does not have.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.aquire.gpu.global.f32 [p]) }
}
