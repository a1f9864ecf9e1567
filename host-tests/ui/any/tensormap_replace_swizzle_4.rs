use ptx_intrinsics::cp_async_bulk::*;

fn main() {
    let mut map = [0u64; 16];
    unsafe { tensormap_replace_swizzle_mode::<4, _>(map.as_mut_ptr()) }
}
