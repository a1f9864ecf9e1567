//! PTX writes an address in brackets, of a store and of an atomic too.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32, total: *mut f32) {
    unsafe { ptx!(st.global.f32 p, 1.0) }
    unsafe { ptx!(red.global.add.f32 total, 1.0) }
}
