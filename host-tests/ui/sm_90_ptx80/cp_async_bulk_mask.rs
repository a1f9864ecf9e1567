//! `.cp_mask` begins with sm_100 and PTX ISA 8.6.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: *mut f32, src: SharedPtr<f32>) {
    unsafe { cp_async_bulk_global_shared_cp_mask(dst, src, 64, 1) }
}
