//! What begins with PTX ISA 8.0.
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::prelude::*;

fn main() {}

// `cp.async.bulk` begins with sm_90 and PTX ISA 8.0.
fn cp_async_bulk(dst: *mut f32, src: SharedPtr<f32>) {
    unsafe { cp_async_bulk_global_shared(dst, src, 64) }
}

// Tensor maps begin with sm_90 and PTX ISA 8.0.
fn tensormap(p: *const u128) {
    unsafe { prefetch_tensormap(p) }
}
