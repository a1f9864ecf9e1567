//! Lanes that are all missing, or not named.
use ptx_intrinsics::prelude::*;

fn main() {}

// A load that reads nothing.
fn sink_for_every_lane(p: *const V4<u64>) -> V4<u64> {
    unsafe { ptx!(ld.global.nc.L1::evict_last.v4.u64 {_, _, _, _}, [p]) }
}

// Each lane has a name or a sink.
fn sink_missing(p: *const V8<f32>) -> V8<f32> {
    unsafe { ptx!(ld.global.v8.f32 {d, _, d}, [p]) }
}
