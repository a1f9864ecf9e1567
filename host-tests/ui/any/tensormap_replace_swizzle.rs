//! A swizzle has a number from 0 to 3.
use ptx_intrinsics::cp_async_bulk::*;

fn main() {}

fn kernel(map: *mut u128) {
    unsafe { tensormap_replace_swizzle_mode_global::<4, _>(map) }
}
