//! A store has a value.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32) {
    unsafe { ptx!(st.global.f32 [p]) }
}
