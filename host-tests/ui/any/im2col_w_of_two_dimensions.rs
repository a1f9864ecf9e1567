//! Columns along the width of an image are of three dimensions or more.
use ptx_intrinsics::cp_async_bulk::*;

fn main() {}

fn kernel(map: *const u8) {
    unsafe { cp_async_bulk_prefetch_tensor_im2col_w(map, [0; 2], [0; 2]) }
}
