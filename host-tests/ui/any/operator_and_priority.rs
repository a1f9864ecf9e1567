//! PTX takes a cache operator or an eviction priority, never both.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<(Cg, EvictLast), NoPrefetch>().read(p) }
}
