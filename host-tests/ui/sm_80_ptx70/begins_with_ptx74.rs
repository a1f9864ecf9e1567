//! What begins with PTX ISA 7.4.
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;

fn main() {}

// `.L2::cache_hint` begins with PTX ISA 7.4.
fn cache_policy(p: *mut f32, policy: CachePolicy) {
    unsafe { st_global::<NoHint>().write_with(p, 1.0, policy) }
}

// Prefetch sizes begin with PTX ISA 7.4.
fn cp_async_prefetch_size(dst: SharedPtr<f32>, src: *const f32) {
    unsafe { cp_async_ca::<Prefetch128>().copy(dst, src) }
}

// L1 priorities begin with PTX ISA 7.4.
fn evict_last(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<EvictLast, NoPrefetch>().read(p) }
}
