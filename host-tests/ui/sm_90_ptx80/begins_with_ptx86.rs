//! What begins with PTX ISA 8.6.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

// `cp.async.bulk.shared::cta` begins with PTX ISA 8.6.
fn cp_async_bulk_cta(dst: SharedPtr<f32>, src: *const f32, bar: SharedPtr<Mbarrier>) {
    unsafe { cp_async_bulk_shared_global(dst, src, 64, bar) }
}

// `.relaxed` begins with PTX ISA 8.6 at a barrier.
fn mbarrier_relaxed(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_arrive_as::<Relaxed<Cta>, _>(bar); }
}
