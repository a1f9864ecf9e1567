//! Rust's word for a type.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const i32) -> i32 {
    unsafe { ptx!(ld.global.i32 [p]) }
}
