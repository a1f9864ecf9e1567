//! A load that reads nothing.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V4<u64>) -> V4<u64> {
    unsafe { ptx!(ld.global.nc.L1::evict_last.v4.u64 {_, _, _, _}, [p]) }
}
