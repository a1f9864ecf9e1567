//! `cp.async.ca` copies 4, 8 or 16 bytes.
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: SharedPtr<[f32; 3]>, src: *const [f32; 3]) {
    unsafe { cp_async_ca::<NoPrefetch>().copy(dst, src) }
}
