//! PTX has four scopes.
use ptx_intrinsics::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_shared().acquire::<Global>().read(p) }
}
