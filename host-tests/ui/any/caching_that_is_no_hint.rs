//! What is no caching qualifier, and pairs that PTX does not have.
use ptx_intrinsics::prelude::*;

fn main() {}

// A type that is no qualifier at all.
fn no_qualifier(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<f32, NoPrefetch>().read(p) }
}

// Nor does the priority of the other level help.
fn operator_and_l2_priority(p: *const f32) -> f32 {
    unsafe { ld_global::<(Cg, L2EvictLast), NoPrefetch>().read(p) }
}

// PTX takes a cache operator or an eviction priority, never both.
fn operator_and_priority(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<(Cg, EvictLast), NoPrefetch>().read(p) }
}

// A line has one L1 priority.
fn pair_of_one_level(p: *const f32) -> f32 {
    unsafe { ld_global::<(EvictFirst, EvictLast), NoPrefetch>().read(p) }
}

// In a pair, L1 comes first.
fn pair_swapped(p: *const V8<f32>) -> V8<f32> {
    unsafe { ld_global_nc::<(L2EvictLast, EvictLast), NoPrefetch>().read(p) }
}
