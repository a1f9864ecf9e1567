//! A pointer to another type than the words say.
use ptx_intrinsics::prelude::*;

fn main() {}

// The words and the pointer have one type.
fn atom_another_pointer(p: *mut f64) {
    unsafe { ptx!(red.global.add.f32 [p], 1.0) }
}

// The pointer is to the type that the words say.
fn ptx_pointer_of_another_type(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.u32 [p]) }
}
