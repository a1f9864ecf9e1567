//! Tensor maps are changed on targets with a suffix.
use ptx_intrinsics::cp_async_bulk::*;

fn main() {}

fn kernel(map: *mut u128) {
    unsafe { tensormap_replace_rank_global(map, 1) }
}
