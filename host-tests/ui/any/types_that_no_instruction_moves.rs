//! The compiler does not know that PTX has these types.
use ptx_intrinsics::prelude::*;

fn main() {}

// A `bool` must be 0 or 1, and memory holds what it holds.
fn bool(p: *const bool) -> bool {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}

// Nor is every `u32` a `char`.
fn char(p: *const char) -> char {
    unsafe { ldg(p) }
}

// `Element` says that PTX has the type, and not that this build's GPU has it.
pub unsafe fn store<T: Element>(p: *mut T, value: T) {
    unsafe { st_global::<Cs>().write(p, value) }
}

// A reference is not plain bits.
fn reference(p: *const &'static f32) -> &'static f32 {
    unsafe { ld_global::<NoHint, NoPrefetch>().read(p) }
}

// A struct has no `.type`, whatever its size.
#[derive(Clone, Copy)]
#[allow(dead_code)]
struct Point {
    x: f32,
    y: f32,
}

fn of_struct(p: *const Point) -> Point {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}

// Its size is the machine's.
fn usize(p: *const usize) -> usize {
    unsafe { ldg(p) }
}

// 512 bits are too many.
fn v8_of_64_bits(p: *const V8<f64>) -> V8<f64> {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(p) }
}

// `.v8` is for 32-bit elements alone.
fn v8_of_8_bits(p: *const V8<u8>) -> V8<u8> {
    unsafe { ld_global::<NoHint, NoPrefetch>().read(p) }
}
