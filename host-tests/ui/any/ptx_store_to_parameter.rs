//! The assembler takes no such store.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32) {
    unsafe { ptx!(st.param::func.f32 [p], 1.0) }
}
