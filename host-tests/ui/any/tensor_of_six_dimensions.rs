//! A tensor has five dimensions at most.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(map: *const u8) {
    unsafe { cp_async_bulk_prefetch_tensor(map, [0; 6]) }
}
