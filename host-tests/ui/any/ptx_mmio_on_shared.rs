//! Memory-mapped registers are not in shared memory.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ptx!(ld.mmio.relaxed.sys.shared.f32 [p]) }
}
