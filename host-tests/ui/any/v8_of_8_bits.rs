//! `.v8` is for 32-bit elements alone.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *const V8<u8>) -> V8<u8> {
    unsafe { ld_global::<NoHint, NoPrefetch>().read(p) }
}
