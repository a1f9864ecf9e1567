//! A load that reads nothing.
#![allow(unused_unsafe)]
use ptx_intrinsics::*;

fn main() {}

fn kernel(p: *const V4<u64>) -> V4<u64> {
    unsafe { read_lanes!(ld_global_nc::<EvictLast, NoPrefetch>, V4<u64> {_, _, _, _}, p) }
}
