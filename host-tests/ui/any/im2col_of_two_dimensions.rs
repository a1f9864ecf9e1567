//! Columns of an image are of three dimensions or more.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(map: *const u8) {
    unsafe { cp_async_bulk_prefetch_tensor_im2col(map, [0; 2], [0; 1]) }
}
