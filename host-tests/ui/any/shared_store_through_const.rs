//! Nothing is stored through a pointer to constants.
use ptx_intrinsics::prelude::*;

fn kernel(p: *const u32) {
    unsafe { ptx!(st.volatile.shared.u32 [p], 1) }
}

fn main() {}
