//! Only a 256-bit load has sinks.
use ptx_intrinsics::*;

fn main() {}

fn kernel(p: *const V4<f32>) -> V4<f32> {
    unsafe { read_lanes!(ld_global_nc::<EvictLast, NoPrefetch>, V4<f32> {d, _, _, d}, p) }
}
