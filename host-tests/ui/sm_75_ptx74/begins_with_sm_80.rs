//! What begins with sm_80.
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

// `.L2::cache_hint` begins with sm_80.
fn cache_policy(p: *const f32, policy: CachePolicy) -> f32 {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().read_with(p, policy) }
}

// `cp.async` begins with sm_80.
fn cp_async(dst: SharedPtr<f32>, src: *const f32) {
    unsafe { cp_async_ca::<NoPrefetch>().copy(dst, src) }
}

// `mbarrier` begins with sm_80.
fn barrier(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_init(bar, 1) }
}

// `.L2::256B` begins with sm_80.
fn prefetch_256(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<NoHint, Prefetch256>().read(p) }
}

// `prefetch.global.L2::evict_last` begins with sm_80.
fn prefetch_evict_last(p: *const f32) {
    unsafe { prefetch_global_l2::<L2EvictLast>(p) }
}
