//! Local memory is the thread's own.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_local().relaxed::<Cta>().read(p) }
}
