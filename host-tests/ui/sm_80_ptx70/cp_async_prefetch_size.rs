//! Prefetch sizes begin with PTX ISA 7.4.
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: SharedPtr<f32>, src: *const f32) {
    unsafe { cp_async_ca::<Prefetch128>().copy(dst, src) }
}
