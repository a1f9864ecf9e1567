//! A priority that a prefetch or a policy does not take.
use ptx_intrinsics::prelude::*;

fn main() {}

// `evict_last` is a primary priority only.
fn policy_priority() -> CachePolicy {
    CachePolicy::fractional::<(L2EvictFirst, L2EvictLast)>(0.5)
}

// `prefetch` has no `.L2::evict_first`.
fn prefetch_evict_first(p: *const f32) {
    unsafe { prefetch_global_l2::<L2EvictFirst>(p) }
}

// `prefetch` into L2 takes no L1 priority.
fn prefetch_l1_priority(p: *const f32) {
    unsafe { prefetch_global_l2::<EvictLast>(p) }
}

// `prefetch` takes no cache operator.
fn prefetch_operator(p: *const f32) {
    unsafe { prefetch_global_l2::<Cg>(p) }
}
