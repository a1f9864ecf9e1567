//! Constant memory is read only.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32) {
    unsafe { ptx!(st.const.f32 [p], 1.0) }
}
