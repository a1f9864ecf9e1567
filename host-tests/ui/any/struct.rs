//! A struct has no `.type`, whatever its size.
use ptx_intrinsics::prelude::*;

#[derive(Clone, Copy)]
#[allow(dead_code)]
struct Point {
    x: f32,
    y: f32,
}

fn main() {}

fn kernel(p: *const Point) -> Point {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}
