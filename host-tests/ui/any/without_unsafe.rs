//! Each access is unsafe.
use ptx_intrinsics::prelude::*;

fn main() {}

// One error, whatever the macro makes of it.
fn atom_without_unsafe(p: *mut u32) -> u32 {
    ptx!(atom.global.add.u32 [p], 1)
}

// One error, whatever the macro makes of it.
fn ptx_store_without_unsafe(p: *mut f32) {
    ptx!(st.global.f32 [p], 1.0)
}

// One error, whatever the macro makes of it.
fn ptx_without_unsafe(p: *const f32) -> f32 {
    ptx!(ld.global.f32 [p])
}

// A load is unsafe.
fn read_without_unsafe(p: *const f32) -> f32 {
    ld_global_nc::<NoHint, NoPrefetch>().read(p)
}
