//! A copy along the width of an image is of newer targets: of a halo after each 32 pixels some with a suffix.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: SharedPtr<u32>, map: *const u8, bar: SharedPtr<Mbarrier>) {
    unsafe { cp_async_bulk_tensor_shared_global_im2col_w(dst, map, [0; 4], bar, [2, 0]) }
    unsafe { cp_async_bulk_tensor_shared_global_im2col_w_128(dst, map, [0; 4], bar, [2, 0]) }
}
