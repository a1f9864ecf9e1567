//! `.ca`, `.lu` and `.cv` are for loads.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut f32) {
    unsafe { st_global::<Ca>().write(p, 1.0) }
}
