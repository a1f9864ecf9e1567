use ptx_intrinsics::cp_async_bulk::*;

fn main() {
    let mut map = [0u64; 16];
    unsafe { tensormap_replace_rank_global(map.as_mut_ptr(), 2) }
}
