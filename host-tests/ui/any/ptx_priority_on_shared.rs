//! Shared memory has no L1 to be evicted from.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.shared.L1::evict_last.f32 [p]) }
}
