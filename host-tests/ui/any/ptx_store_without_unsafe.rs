//! One error, whatever the macro makes of it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32) {
    ptx!(st.global.f32 [p], 1.0)
}
