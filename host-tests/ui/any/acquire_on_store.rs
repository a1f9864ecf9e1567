use ptx_intrinsics::prelude::*;

fn publish(p: *mut u32) {
    unsafe { st_global::<NoHint>().acquire::<Gpu>().write(p, 1) }
}

fn main() {}
