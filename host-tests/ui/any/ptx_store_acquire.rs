//! A store releases.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32) {
    unsafe { ptx!(st.acquire.gpu.global.f32 [p], 1.0) }
}
