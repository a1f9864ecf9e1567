//! `evict_last` is a primary priority only.
use ptx_intrinsics::prelude::*;

fn kernel() -> CachePolicy {
    CachePolicy::fractional::<(L2EvictFirst, L2EvictLast)>(0.5)
}

fn main() {}
