//! It spells loads and stores.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(mov.u32 [p]) }
}
