//! An operation or a type that atomics do not have.
use ptx_intrinsics::prelude::*;

fn main() {}

// A word that PTX does not have.
fn atom_operation_misspelt(p: *mut u32) {
    unsafe { ptx!(red.global.addd.u32 [p], 1) }
}

// Rust's word for a type.
fn atom_rust_type(p: *mut i32) -> i32 {
    unsafe { ptx!(atom.global.add.i32 [p], 1) }
}
