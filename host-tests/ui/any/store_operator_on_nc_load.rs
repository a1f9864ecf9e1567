//! `.wb` and `.wt` are for stores.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<Wt, NoPrefetch>().read(p) }
}
