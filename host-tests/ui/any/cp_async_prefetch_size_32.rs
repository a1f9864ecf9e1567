//! PTX has no `.L2::32B`.
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: SharedPtr<f32>, src: *const f32) {
    unsafe { cp_async_ca::<Prefetch<32>>().copy(dst, src) }
}
