//! A bulk copy that a barrier learns of goes to shared memory.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(dst: *mut f32, src: *const f32, bar: SharedPtr<Mbarrier>) {
    unsafe { cp_async_bulk_shared_cluster_global(dst, src, 64, bar) }
}
