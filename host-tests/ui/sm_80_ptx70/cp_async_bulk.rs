//! `cp.async.bulk` begins with sm_90 and PTX ISA 8.0.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: *mut f32, src: SharedPtr<f32>) {
    unsafe { cp_async_bulk_global_shared(dst, src, 64) }
}
