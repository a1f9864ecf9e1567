//! Rust's word for a type.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut i32) -> i32 {
    unsafe { ptx!(atom.global.add.i32 [p], 1) }
}
