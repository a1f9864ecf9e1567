//! A source is ignored from PTX ISA 7.5 on.
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: SharedPtr<f32>, src: *const f32) {
    unsafe { cp_async_ca::<NoPrefetch>().copy_unless(true, dst, src) }
}
