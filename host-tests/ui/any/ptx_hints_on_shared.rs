//! Shared memory has no caches.
use ptx_intrinsics::prelude::*;

fn main() {}

// Shared memory has no L2.
fn ptx_policy_on_shared(p: *const f32) -> f32 {
    unsafe { ptx!(ld.shared.L2::cache_hint.f32 [p], CachePolicy::EVICT_LAST) }
}

// Shared memory has no L1 to be evicted from.
fn ptx_priority_on_shared(p: *const f32) -> f32 {
    unsafe { ptx!(ld.shared.L1::evict_last.f32 [p]) }
}
