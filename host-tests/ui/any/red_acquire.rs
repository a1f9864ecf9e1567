//! What gives nothing back cannot acquire.
use ptx_intrinsics::prelude::*;

fn kernel(p: *mut u32) {
    unsafe { ptx!(red.acquire.gpu.global.add.u32 [p], 1) }
}

fn main() {}
